//go:build race

package durable

// raceDetector is true where the tests are built with the race detector.
const raceDetector = true
