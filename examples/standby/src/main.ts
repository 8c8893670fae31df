import { MemoryLeaseStore } from '@leasehold/core'
import { waitFor } from 'xstate'
import { startInstance } from './service.js'

const store = new MemoryLeaseStore()
const waiting = new Map<string, () => void>()

/** Prints a line, and notifies the code below of it. */
function print(line: string): void {
  console.log(line)
  waiting.get(line)?.()
}

async function order(id: string, address: string, handler: string): Promise<void> {
  const handled = new Promise<void>((resolve) => waiting.set(`${handler} handles order ${id}`, resolve))
  await fetch(`${address}/orders?id=${id}`, { method: 'POST' })
  await handled
}

const first = await startInstance('first', store, print)
await waitFor(first.actor, ({ value }) => value === 'active')
const second = await startInstance('second', store, print)

await order('1', first.address, 'first')
await order('2', second.address, 'first')
await first.close()
await waitFor(second.actor, ({ value }) => value === 'active')
await order('3', second.address, 'second')
await second.close()
