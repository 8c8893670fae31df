/** The demo on leases of this machine. Exits 0 if every figure of its summary holds. */
import { runDemo } from './demo.js'
import { readFileLedger } from './file-ledger.js'

const holds = await runDemo({
  worker: new URL('./worker.ts', import.meta.url),
  ttl: 3_000,
  longestHandOver: 1_000,
  readLedger: readFileLedger,
})
process.exitCode = holds ? 0 : 1
