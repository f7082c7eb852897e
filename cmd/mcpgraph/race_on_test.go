//go:build race

package main

// raceDetector is true where the tests, and the program that they start, are built
// with the race detector.
const raceDetector = true
