/** A thread that stays in an action of a guard until it is terminated. */
import { parentPort, workerData } from 'node:worker_threads'
import { LocalGuard } from '@leasehold/local'

const { folder } = workerData as { readonly folder: string }

new LocalGuard({ folder }).transact('ledger', 5n, () => {
  parentPort?.postMessage('within')
  for (;;);
})
