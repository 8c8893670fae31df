import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type StoreLease } from '@leasehold/core'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, VirtualClock, VirtualTime } from '@leasehold/testkit'
import { expect, vi } from 'vitest'
import type { KubeConfigLike } from '../../src/api/kube-config.js'
import { GoElector, type ReleasedTransitions } from './go-elector.js'

const TIMES = { heartbeatTimeout: 6_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }
/** Time stands still while a server is at work; a watch may take so long in real time. Milliseconds. */
const PATIENCE = { timeout: 60_000, interval: 2 }

export interface LateRelease {
  readonly kubeConfig: KubeConfigLike
  readonly name: string
  readonly transitions: ReleasedTransitions
  /** Whether the holder may watch the object; without it, it learns of the release at its next heartbeat. */
  readonly holderWatches: boolean
  /** After how much of a heartbeat interval the release comes. */
  readonly phase: number
  /** The holder is cut off, and another Go elector takes the Lease for a moment after the release. */
  readonly cutOff?: boolean
}

/** When things happened, in milliseconds of virtual time. */
export interface LateReleaseTimes {
  readonly released: number
  readonly lost: number
  readonly granted: number
  /** For how long both leases were valid. */
  readonly overlap: number
}

/**
 * A Go leader is cut off past its RenewDeadline. Our first lease takes over; then Go's late release empties the holder,
 * while our second lease waits with a watch. With `cutOff`, our holder cannot reach the server from then on.
 */
export async function releaseLate(scene: LateRelease): Promise<LateReleaseTimes> {
  const { kubeConfig, name, holderWatches, phase, cutOff = false } = scene
  const stores: FaultyStore[] = []
  const isBusy = (): boolean => stores.some((store) => store.inProgress > 0)
  const time = new VirtualTime({ isBusy, waitOutside: () => sleep(1, true) })
  const go = new GoElector(kubeConfig, name, 'go_1', 6)
  const candidate = new GoElector(kubeConfig, name, 'go_2', 6)
  let isCut = false
  const open = (owner: string, watch: boolean): StoreLease => {
    const clock = new VirtualClock({ time })
    const store = new KubernetesLeaseStore({ kubeConfig, clock, watch, logger: silentLogger })
    const counted = new FaultyStore(store, {
      clock,
      plan: () => (isCut && owner === 'holder' ? { kind: 'hang' } : undefined),
    })
    stores.push(counted)
    return createLease(counted, name, { ...TIMES, owner, clock, logger: silentLogger })
  }
  try {
    await go.acquire()
    const holder = open('holder', holderWatches)
    const waiter = open('waiter', true)
    let lost = Number.NaN
    let granted = Number.NaN
    let overlap = 0
    holder.on('lost', () => {
      lost = time.now
    })
    waiter.on('acquired', () => {
      granted = time.now
      overlap = holder.remaining
    })
    const forever = { wait: Number.POSITIVE_INFINITY }
    const held = holder.acquire(forever)
    expect(await time.advanceUntil(() => holder.checkLease(), 20_000)).toBe(true)
    expect(await held).toBe(true)
    const waiting = waiter.acquire(forever)
    await time.advance(phase * TIMES.heartbeatInterval)

    isCut = cutOff
    const released = time.now
    await go.release(scene.transitions)
    if (cutOff) {
      await candidate.acquire()
      await candidate.release()
    }
    if (holderWatches) await vi.waitFor(() => expect(lost).toBe(released), PATIENCE)
    await time.advanceUntil(() => !holder.checkLease(), 2 * TIMES.heartbeatTimeout)
    // A holder that can reach the server frees the name; the waiter notices it by its watch, for which time stands still.
    const isGranted = async () => {
      await time.advance(0)
      expect(waiter.checkLease()).toBe(true)
    }
    if (!cutOff) await vi.waitFor(isGranted, PATIENCE)
    await time.advanceUntil(() => waiter.checkLease(), 3 * TIMES.heartbeatTimeout)
    expect(await waiting).toBe(true)
    return { released, lost, granted, overlap }
  } finally {
    for (const store of stores) await store.close()
    go.close()
    candidate.close()
  }
}
