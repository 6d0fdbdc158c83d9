// Package silicon measures how far machine sheets are from real boards. Published measurements of V100, A100 and H100
// boards are rows of rows.csv; each is run with a kernel of kernels/ on a sheet of boards/, which inherits the
// machine's and has the clocks of the board that was measured.
//
// A reader must know three types. Row is one published figure and how it is simulated;
// Set is the rows, boards and programs of a folder; Result is a row with what the
// simulation gave. Score sums results up by group and machine. Pair is two kernels that were
// measured beside each other (colocation.csv).
package silicon

// Groups of rows, in the order in which they are printed.
func Groups() []string {
	return []string{
		"alu", "latency", "strides", "sync", "launch", "bandwidth", "kernels", "instructions", "host",
		"uvm",
	}
}

// wanted is the typical error in percent that a group shall not exceed.
func wanted(group string) float64 {
	return map[string]float64{
		"alu": 10, "latency": 10, "strides": 20, "sync": 25, "launch": 20, "bandwidth": 15, "kernels": 20, "host": 10,
		"uvm": 50, "instructions": 10,
	}[group]
}

// Row is one published figure of a board.
type Row struct {
	Group, Board, Name string
	Silicon            float64 // the published figure
	Unit               string
	Program            string              // of kernels/, without .star
	Runs               []map[string]string // arguments of the program; most rows need one run
	Set                map[string]string   // overrides of the board's sheet
	Value              Expression          // how to compute the published figure from what the runs printed
	// Launches is the number of launches that the comparison leaves out: Floor cycles of each are subtracted from the
	// published figure, an empty launch from the simulated one. 0: launches are part of both.
	Launches int
	Floor    float64
	Long     bool   // takes long, or repeats its neighbours: only with Options.Long
	Soft     string // why the row does not count in the score; "": it counts
	Source   string
	Line     int // in the file
}

// Board is a sheet of boards/.
type Board struct {
	Name    string
	Machine string // the machine that it belongs to: the shipped sheet at the end of its chain of bases
	File    string
	MHz     float64 // core clock
	SMs     int
}

// Result is a row that has been simulated.
type Result struct {
	*Row
	Machine string
	Heddle  float64
	// NetHeddle and NetSilicon are the figures that are compared, without the launches if the row says so.
	NetSilicon, NetHeddle float64
	Soft                  string // as in Row, or that the row is mostly launch
	Err                   string // why there is no figure: a sheet that refuses a kernel, a program that fails
}

// Scored says whether the row counts in the score.
func (r *Result) Scored() bool { return r.Err == "" && r.Soft == "" }

// Error is the relative error of a row with a figure: 0.1 is 10 % too much.
func (r *Result) Error() float64 { return r.NetHeddle/r.NetSilicon - 1 }
