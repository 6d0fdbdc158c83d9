package sheets

import (
	"bytes"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// Write is the YAML text of a machine with its provenance. Parse of it gives the
// same machine.
func Write(m *Machine, prov *Provenance) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %s\ndescription: %s\n\nsources:\n", strconv.Quote(m.Name), strconv.Quote(m.Description))
	keys, refs := sourceKeys(prov.List(m))
	for _, k := range keys {
		fmt.Fprintf(&b, "  %s: %s\n", k, strconv.Quote(refs[k]))
	}
	section, sub := "", ""
	for _, f := range schema() {
		e, stated := prov.at[f.path]
		if !stated {
			continue
		}
		parts := strings.Split(f.path, ".")
		if parts[0] != section {
			section, sub = parts[0], ""
			fmt.Fprintf(&b, "\n%s:\n", section)
		}
		if f.path == profilesPath {
			writeProfiles(&b, m)
			continue
		}
		indent := "  "
		if len(parts) == 3 {
			if parts[1] != sub {
				sub = parts[1]
				fmt.Fprintf(&b, "  %s:\n", sub)
			}
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%s: [%s, %s, %s]\n", indent, parts[len(parts)-1], yamlValue(f.value(m), f.unit), f.unit,
			e.Source)
	}
	return b.Bytes()
}

// sourceKeys lists the sources in use. Entries that share a key but not a
// reference are joined into one reference.
func sourceKeys(entries []Entry) ([]string, map[string]string) {
	refs := map[string]string{}
	var keys []string
	for _, e := range entries {
		if e.Source == "default" || e.Source == "" {
			continue
		}
		ref := e.Reference
		switch e.Source { // one line for all numbers of an import
		case "config":
			ref = "the gpgpusim.config this sheet was imported from"
		case "base":
			ref = "not an option of gpgpusim.config: taken from the sheet " + importBase
		}
		old, ok := refs[e.Source]
		if !ok {
			keys = append(keys, e.Source)
			refs[e.Source] = ref
		} else if !strings.Contains(old, ref) && len(old) < 400 {
			refs[e.Source] = old + "; " + ref
		}
	}
	sort.Strings(keys)
	return keys, refs
}

func yamlValue(v reflect.Value, unit string) string {
	switch v.Kind() {
	case reflect.String:
		if unit == "text" || v.String() == "" {
			return strconv.Quote(v.String())
		}
		return v.String()
	case reflect.Array, reflect.Slice:
		return "[" + strings.ReplaceAll(text(v), ",", ", ") + "]"
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return text(v)
}

func writeProfiles(b *bytes.Buffer, m *Machine) {
	b.WriteString("  profiles:\n")
	for i := range m.MIG.Profiles {
		p := &m.MIG.Profiles[i]
		fmt.Fprintf(b, "    - {name: %s", strconv.Quote(p.Name))
		for _, f := range profileSchema() {
			fmt.Fprintf(b, ", %s: [%s, %s, %s]", f.path, text(f.profileValue(p)), f.unit, p.Source)
		}
		b.WriteString("}\n")
	}
}
