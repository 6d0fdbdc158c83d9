package sim

import (
	"path"
	"slices"
)

// Files of a result directory.
const (
	ResultFile    = "result.json"    // what makes a directory a result directory
	DecisionsFile = "decisions.json" // the log of the machine-wide policies
)

// ResultFiles lists the files Heddle writes into a result directory, the samples of policies aside.
func ResultFiles() []string {
	return []string{
		ResultFile, "counters.csv", "epochs.csv", "epochs.parquet", DecisionsFile, "timeline.json", "stalls.pb.gz",
	}
}

// SamplesFile is the file of one policy's samples that heddle policy replay reads.
func SamplesFile(policy string) string { return "samples-" + policy + ".json" }

// IsResultFile says whether Heddle writes a file of that name into a result directory.
func IsResultFile(name string) bool {
	samples, err := path.Match(SamplesFile("*"), name)
	return slices.Contains(ResultFiles(), name) || samples && err == nil
}
