import fc from 'fast-check'

// A fixed seed, so that property tests give the same result in every run.
fc.configureGlobal({ seed: 1 })
