// Package probe runs parts of a hybrid memory by themselves. Read three types first: Remap, the owners of ways and
// how many ways change hands; Access, a miss of the GPU; and Tokens, what happened to each miss.
package probe
