export { type InstrumentLeasesOptions, instrumentLeases, type LeaseInstrumentation } from './instrument-leases.js'
