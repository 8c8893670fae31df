import { breakLease, readLease } from '@leasehold/core'
import type { SimulatedProcess } from '@leasehold/simulator'
import { familyCounts, PARENT } from './family-rules.js'

/** An operator who breaks the parent again and again: without a period, or with one as long as its grace, longer or shorter. */
export async function breakParents(process: SimulatedProcess): Promise<void> {
  const { leaseOptions, random, signal, sleep } = process
  const { heartbeatTimeout: ttl = 0 } = leaseOptions
  while (!signal.aborted) {
    await sleep(ttl * random.magnitude(-1, 2))
    // The store may be down, or another operator may have been first.
    if (!signal.aborted) await breakParent(process).catch(() => {})
  }
}

async function breakParent({ leaseOptions, random, shared, store }: SimulatedProcess): Promise<void> {
  const { operationTimeout: timeout, clock } = leaseOptions
  const record = await readLease(store, PARENT, { timeout, clock })
  if (record?.state !== 'leased') return
  // Declared in the metadata: milliseconds, and the id of the grant.
  const grace = Number(record.metadata.childGrace?.split(' ')[0] ?? 0)
  const period = random.pick([undefined, grace, 1.5 * grace, 0.3 * grace, 0])
  // Some break any grant, also one that came after the look.
  const only = random.chance(0.5) ? { grantId: record.grantId } : {}
  await breakLease(store, PARENT, { ...only, ...(period === undefined ? {} : { period }), timeout, clock })
  familyCounts(shared)[period === undefined || period >= grace ? 'gentleBreaks' : 'abruptBreaks'] += 1
}
