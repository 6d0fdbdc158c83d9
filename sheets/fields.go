package sheets

// Field describes one number of a machine sheet.
type Field struct {
	Path, Unit, Doc string
	Optional        string // meaning of leaving it out; "": it must be given
	Section         string // the section that may be left out as a whole; "": none
}

// Fields lists every number a sheet may have, in the order in which sheets are written.
func Fields() []Field {
	var out []Field
	for _, f := range schema() {
		if f.path != profilesPath {
			out = append(out, Field{f.path, f.unit, f.doc, f.opt, f.whole})
			continue
		}
		for _, p := range profileSchema() {
			out = append(out, Field{profilesPath + "[]." + p.path, p.unit, p.doc, p.opt, f.whole})
		}
	}
	return out
}
