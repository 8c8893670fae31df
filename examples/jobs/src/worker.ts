/** `worker.ts FOLDER [STUCK]`: sends the invoices with other processes. It never finishes the invoice STUCK. */
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { sendInvoices } from './share-jobs.js'

const [folder = '', stuck] = process.argv.slice(2)

// The worker must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new LocalLeaseStore({ folder })
const { done } = await sendInvoices(store, '2026-11', async (invoice) => {
  console.log(`begins ${invoice}`)
  await pause(invoice === stuck ? 1_000_000 : 100)
})
console.log(`sent ${done.join(' ')}`)
await store.close()
process.exit()
