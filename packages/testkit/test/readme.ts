// #region example
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'

export async function loseInVirtualTime(): Promise<string[]> {
  const clock = new VirtualClock()
  const lease = createLease(new MemoryLeaseStore({ clock }), 'job', { clock })
  const losses: string[] = []
  await lease.acquire({ onLost: ({ reason }) => losses.push(reason) })
  await clock.advance(3_600_000) // an hour of heartbeats, in no time
  clock.block(120_000) // the event loop is blocked for longer than the ttl
  if (lease.checkLease()) losses.push('never')
  await clock.settle()
  return losses
}
// #endregion example
