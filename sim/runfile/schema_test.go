package runfile

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/heddle-sim/heddle/sim"
)

// schema is the JSON schema of run files, for editors. It is generated from Doc, by
// the test (so that the command need not carry the generator);
// runfile.schema.json is its committed form.
func schema() ([]byte, error) {
	r := &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		DoNotReference:             true,
		RequiredFromJSONSchemaTags: true,
		Mapper:                     mapped,
	}
	s := r.Reflect(&Doc{})
	s.ID = "runfile.schema.json"
	s.Title = "Heddle run file"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// mapped gives the schema of the types that read themselves.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Target]():
		amount := func() *jsonschema.Schema {
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
				{Type: "number", Minimum: json.Number("0")},
				{Type: "string", Pattern: `^ *[0-9.]+ *%$`},
			}}
		}
		of := jsonschema.NewProperties()
		of.Set("kernel", &jsonschema.Schema{Type: "string", Description: "Name of the kernel"})
		ipc := amount()
		ipc.Description = "Target of this kernel, as for an application"
		of.Set("ipc", ipc)
		either := amount()
		either.OneOf = append(either.OneOf, &jsonschema.Schema{
			Type: "object", Properties: of, Required: []string{"kernel", "ipc"},
			AdditionalProperties: jsonschema.FalseSchema,
		})
		return either
	case reflect.TypeFor[Numbers]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "number"},
			{Type: "string"}, // the name of a choice
		}}}
	case reflect.TypeFor[Scalars]():
		scalar := func() *jsonschema.Schema {
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
				{Type: "string"},
				{Type: "number"},
				{Type: "boolean"},
			}}
		}
		value := scalar()
		value.OneOf = append(value.OneOf, &jsonschema.Schema{Type: "array", Items: scalar()})
		return &jsonschema.Schema{Type: "object", AdditionalProperties: value}
	case reflect.TypeFor[Policies](): // names are not listed: a new policy needs no new schema
		r := &jsonschema.Reflector{
			FieldNameTag: "yaml", DoNotReference: true, RequiredFromJSONSchemaTags: true,
			Anonymous: true, Mapper: mapped,
		}
		one := r.Reflect(&Policy{})
		one.Version = ""
		either := []*jsonschema.Schema{{Type: "string"}, one}
		return &jsonschema.Schema{OneOf: append(either,
			&jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: either}})}
	case reflect.TypeFor[Modes]():
		r := &jsonschema.Reflector{
			FieldNameTag: "yaml", DoNotReference: true, RequiredFromJSONSchemaTags: true,
			Anonymous: true,
		}
		r.Mapper = mapped
		one := r.Reflect(&Mode{})
		one.Version = ""
		name := &jsonschema.Schema{Type: "string"}
		for _, m := range sim.ModeNames() {
			name.Enum = append(name.Enum, m)
		}
		if m, ok := one.Properties.Get("mode"); ok {
			m.Enum = name.Enum
		}
		either := []*jsonschema.Schema{name, one}
		return &jsonschema.Schema{OneOf: append(either,
			&jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: either}})}
	}
	if t.Kind() == reflect.Uint64 {
		return &jsonschema.Schema{Type: "integer", Minimum: json.Number("0")}
	}
	return nil
}

// Keys lists the top-level keys of a run file, for help texts.
func Keys() string {
	var out []string
	t := reflect.TypeFor[Doc]()
	for i := range t.NumField() {
		out = append(out, t.Field(i).Tag.Get("yaml"))
	}
	return strings.Join(out, ", ")
}
