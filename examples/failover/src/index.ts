export { BatchedLedger } from './batched-ledger.js'
export { type DemoOptions, runDemo } from './demo.js'
export { type Entry, type Ledger, parseLedger, toLine } from './ledger.js'
export { runWorker, type WorkerParts } from './run-worker.js'
