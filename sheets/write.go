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
	var open []string // sections that the number before lies in
	for _, f := range schema() {
		e, stated := prov.at[f.path]
		if !stated {
			continue
		}
		parts := strings.Split(f.path, ".")
		open = writeSections(&b, open, parts[:len(parts)-1])
		if f.path == profilesPath {
			writeProfiles(&b, m)
			continue
		}
		fmt.Fprintf(&b, "%s%s: [%s, %s, %s]\n", strings.Repeat("  ", len(open)), parts[len(parts)-1],
			yamlValue(f.value(m), f.unit), f.unit, e.Source)
	}
	return b.Bytes()
}

// writeSections begins those of the sections that were not open yet.
func writeSections(b *bytes.Buffer, open, sections []string) []string {
	for i, name := range sections {
		if i < len(open) && open[i] == name {
			continue
		}
		open = nil // from here on all begin
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s%s:\n", strings.Repeat("  ", i), name)
	}
	return sections
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
