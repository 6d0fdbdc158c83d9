// Package heddle holds the source text of every package a simulated result depends
// on, so that kept results can be tied to the code that made them (lab.Code) and
// survive changes elsewhere. The build takes it from the files it compiles.
package heddle

import "embed"

// Sources is the text of the packages sim and energy are built from, tests
// included; TestSourcesAreComplete holds the list.
//
//go:embed apps/reference/*.go control/*.go cuda/*.go cuda/fatbin/*.go cuda/shim/*.go energy/*.go engine/*.go
//go:embed host/*.go host/exec/*.go host/script/*.go
//go:embed internal/invariants/*.go internal/kernelname/*.go internal/scratch/*.go isa/*.go lab/energy.go machine/*.go machine/*/*.go mem/*.go mem/*/*.go
//go:embed ptx/parse/*.go ptx/analyze/*.go ptx/readonly/*.go ptx/emulate/*.go ptx/emulate/*.s ptx/ptxas/*.go sheets/*.go sheets/*/*.go
//go:embed sim/*.go stat/*.go trace/accelsim/*.go trace/record/*.go trace/champsim/*.go
//go:embed isa/scalar/*.go isa/accesses/*.go workload/*.go workload/draw/*.go workload/cpu/*.go workload/cpu/*.yaml
var Sources embed.FS
