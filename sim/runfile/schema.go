package runfile

import _ "embed"

//go:embed runfile.schema.json
var schemaJSON []byte

// Schema is the JSON schema of run files, for editors; a test compares it with the types that read them.
func Schema() []byte { return schemaJSON }
