import { LeaseProvider, memoryLease } from '@leasehold/core'
import { expect, it } from 'vitest'
import { startOrders } from './akka.js'

it('the program of the migration page: the actor gets its stashed message with the lease', async () => {
  const provider = new LeaseProvider({ 'orders-lease': { leaseClass: 'memory' } }, { memory: memoryLease })
  const actor = await startOrders(provider, 'node-1')
  actor.send({ type: 'order' })
  await expect.poll(() => actor.getSnapshot().value, { timeout: 20_000 }).toBe('active')
  await expect.poll(() => actor.getSnapshot().children.worker?.getSnapshot().context, { timeout: 20_000 }).toBe(1)
  actor.stop()
  await provider.close()
})
