// Package probe runs parts of a hybrid memory by themselves. Read three types: Remap, whose
// ways are whose and how many change hands; Access, a miss of the GPU; and Tokens, what
// became of each.
package probe
