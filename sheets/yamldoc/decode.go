package yamldoc

import (
	"math"
	"reflect"
)

// FromNode is implemented by types that read themselves.
type FromNode interface{ FromNode(n *Node) error }

// Decode fills the struct that v points to from a mapping. Every key must be a field (by its yaml tag, or by its was
// tag, an earlier name that is still read); messages call the mapping what.
func Decode(n *Node, what string, v any) error {
	return decodeValue(n, what, reflect.ValueOf(v).Elem())
}

func decodeValue(n *Node, what string, v reflect.Value) error {
	if v.CanAddr() {
		if own, ok := v.Addr().Interface().(FromNode); ok {
			return own.FromNode(n)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, what, v)
	case reflect.Slice:
		if n.Kind != List {
			return n.Errorf("%s must be a list, not %s", what, n.Kind)
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i, it := range n.Items {
			if err := decodeValue(it, "an entry of "+what, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(n, what, v.Elem())
	}
	return decodeScalar(n, what, v)
}

func decodeStruct(n *Node, what string, v reflect.Value) error {
	if n.Kind != Map {
		return n.Errorf("%s must be a mapping (key: value), not %s", what, n.Kind)
	}
	t := v.Type()
	at, now := map[string]int{}, map[string]string{} // now: today's name by the earlier one
	var names []string
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name := tag.Get("yaml")
		if name == "" {
			continue
		}
		at[name] = i
		names = append(names, name)
		if was := tag.Get("was"); was != "" {
			at[was], now[was] = i, name
		}
	}
	if err := n.only(what, names, now); err != nil {
		return err
	}
	for _, k := range n.Keys {
		if name := now[k.Name]; name != "" && n.Get(name) != nil {
			return k.At.Errorf("%s is the earlier name of %s, which is given, too: keep %[2]s", k.Name, name)
		}
		if k.Value.Kind == Null {
			return k.At.Errorf("%s has no value", k.Name)
		}
		if err := decodeValue(k.Value, k.Name, v.Field(at[k.Name])); err != nil {
			return err
		}
	}
	return nil
}

func decodeScalar(n *Node, what string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if n.Kind == List || n.Kind == Map || n.Kind == Null {
			return n.Errorf("%s must be text, not %s", what, n.Kind)
		}
		v.SetString(n.Raw)
	case reflect.Bool:
		if n.Kind != Bool {
			return n.Errorf("%s must be true or false, not %s", what, n.Kind)
		}
		v.SetBool(n.Bool)
	case reflect.Int:
		if n.Kind != Int {
			return n.Errorf("%s must be a whole number, not %s", what, n.Found())
		}
		v.SetInt(n.Int)
	case reflect.Uint64:
		whole := n.Kind == Float && n.Float == math.Trunc(n.Float) && n.Float < 1<<53 // 2e6 is a whole number too
		if n.Kind != Int && !whole {
			return n.Errorf("%s must be a whole number, not %s", what, n.Found())
		}
		if n.Float < 0 {
			return n.Errorf("%s cannot be negative", what)
		}
		if whole {
			v.SetUint(uint64(n.Float))
		} else {
			v.SetUint(uint64(n.Int))
		}
	case reflect.Float64:
		if n.Kind != Int && n.Kind != Float {
			return n.Errorf("%s must be a number, not %s", what, n.Kind)
		}
		v.SetFloat(n.Float)
	default:
		return n.Errorf("%s cannot be read from YAML", what)
	}
	return nil
}
