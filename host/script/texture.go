package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// textureValue is a texture or surface.
type textureValue struct {
	opaque
	t *host.Texture
}

func (t *textureValue) String() string        { return fmt.Sprintf("texture 0x%x", t.t.Handle()) }
func (t *textureValue) Type() string          { return "texture" }
func (t *textureValue) Hash() (uint32, error) { return unhashable(t) }

// texture is texture(array, width, height, depth, layers, channels, pitch, address, filter,
// normalized, read), and surface the same without what concerns sampling.
func texture(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var a *array
	var d host.Image
	var pitch int64
	var address starlark.Value = starlark.String("clamp")
	filter, read := "point", "element"
	normalized := false
	pairs := []any{
		"array", &a, "width?", &d.Width, "height?", &d.Height, "depth?", &d.Depth, "layers?", &d.Layers, "channels?",
		&d.Channels, "pitch?", &pitch,
	}
	if b.Name() == "texture" {
		pairs = append(pairs, "address?", &address, "filter?", &filter, "normalized?", &normalized, "read?", &read)
	}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, pairs...); err != nil {
		return nil, err
	}
	d.Pitch = pitch
	s := &d.Sampler
	s.Normalized, s.Linear, s.Unit = normalized, filter == "linear", read == "normalized"
	if filter != "linear" && filter != "point" {
		return nil, fmt.Errorf("texture: filter = %q: point or linear", filter)
	}
	if read != "element" && read != "normalized" {
		return nil, fmt.Errorf("texture: read = %q: element or normalized", read)
	}
	var err error
	if s.Address, err = addressing(address); err != nil {
		return nil, err
	}
	t, err := e.c.NewTexture(a.a, d)
	if err != nil {
		return nil, err
	}
	return &textureValue{t: t}, nil
}

// addressing reads a mode for all axes, or a sequence of one for each.
func addressing(v starlark.Value) (modes [3]emulate.AddressMode, err error) {
	list := starlark.Tuple{v, v, v}
	switch x := v.(type) {
	case starlark.Tuple:
		list = x
	case *starlark.List:
		list = nil
		for i := range x.Len() {
			list = append(list, x.Index(i))
		}
	}
	if len(list) > 3 {
		return modes, errors.New("texture: address has more than three modes")
	}
	for i, x := range list {
		name, _ := starlark.AsString(x)
		mode, ok := emulate.AddressModeByName(name)
		if !ok {
			return modes, fmt.Errorf("texture: address = %s: clamp, border, wrap or mirror", x)
		}
		modes[i] = mode
	}
	return modes, nil
}

// bind is m.bind(name, texture).
func (m *moduleValue) bind(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple,
) (starlark.Value, error) {
	var name string
	var t *textureValue
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "texture", &t); err != nil {
		return nil, err
	}
	return starlark.None, m.m.Bind(name, t.t)
}
