package runfile

import _ "embed"

//go:embed runfile.schema.json
var schemaJSON []byte

// Schema is the JSON schema of run files, for editors; a test holds it against the types that
// read them.
func Schema() []byte { return schemaJSON }
