import { setTimeout as pause } from 'node:timers/promises'
import { createLease, durations, type LeaseStore } from '@leasehold/core'

/** A session that lives as long as there is activity. */
export async function keepSession(store: LeaseStore): Promise<void> {
  // #region session
  const session = createLease(store, 'session of anna', { ...durations.session })
  await session.acquire({ onLost: ({ reason }) => console.log(`session over: ${reason}`) })

  // With each request of the user:
  const isAlive = await session.renew()
  console.log(`session renewed: ${isAlive}`)
  // #endregion session
  await session.release()
}

/** A job with a priority takes the lease of a job with a lower one. */
export async function preempt(store: LeaseStore): Promise<void> {
  const times = { heartbeatTimeout: 1_000, heartbeatInterval: 100, operationTimeout: 100 }
  const nightly = createLease(store, 'gpu', times)
  await nightly.acquire({ metadata: { priority: '1' }, onLost: ({ reason }) => console.log(`nightly job: ${reason}`) })
  await pause(150)
  // #region preempt
  const urgent = createLease(store, 'gpu', times)
  const held = await urgent.acquire({
    wait: 60_000,
    metadata: { priority: '9' },
    preempt: { period: 200, when: ({ metadata }) => Number(metadata.priority) < 9 },
  })
  console.log(`urgent job: ${held}`)
  // #endregion preempt
  await urgent.release()
}
