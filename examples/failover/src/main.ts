/** Runs the demo with the local store. Exits with 0 if all checks of the summary pass. */
import { runDemo } from './demo.js'
import { readFileLedger } from './file-ledger.js'

process.exitCode = await runDemo({
  worker: new URL('./worker.ts', import.meta.url),
  ttl: 3_000,
  longestHandOver: 1_000,
  readLedger: readFileLedger,
})
