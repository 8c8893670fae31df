import assert from 'node:assert/strict'
import type { Grant, LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial } from '../store-trial.js'

/** The part of a ttl after which a live holder renews, and between two looks at a dead one. */
const PART = 0.4

/** In real time, a look comes late on a busy machine. In milliseconds. */
const LATE = 500

/** Challengers that live for a moment: each look is that of a process that sees the name for the first time. */
export const storeLookLaws: readonly StoreLaw[] = grantedStoreLawsOf('expiry', ['looks', 'clients'], {
  async 'looks by short-lived clients replace a dead holder, but not before its ttl is over'(trial, grant, holder) {
    await keepAlive(trial, grant, holder, 2)
    const diedAt = trial.clock.now()
    const { needed, extra } = holder.limits.looks ?? { needed: 1, extra: 0 }
    const wait = trial.longest + extra
    let granted = false
    // The last look that comes too early is followed by one more.
    for (let waited = 0; !granted && waited <= needed * wait + LATE; waited += trial.ttl * PART) {
      await trial.pass(trial.ttl * PART)
      granted = await look(trial)
    }
    const passed = Math.round(trial.clock.now() - diedAt)
    assert(granted, `still refused ${passed} ms after the last heartbeat`)
    assert(passed >= trial.ttl, `granted ${passed} ms after the last heartbeat`)
  },

  async 'looks by short-lived clients never replace a live holder, also if they have looked before its last heartbeat'(
    trial,
    grant,
    holder,
  ) {
    const { extra } = holder.limits.looks ?? { extra: 0 }
    await keepAlive(trial, grant, holder, Math.ceil((1.5 * trial.ttl + extra) / (trial.ttl * PART)))
  },

  async 'a look after a break is not granted before the period is over'(trial, _grant, holder) {
    if (holder.break === undefined) return
    await look(trial)
    await trial.pass(trial.ttl * PART)
    const brokenAt = trial.clock.now()
    const { remaining } = await holder.break(trial.name, { period: trial.ttl * PART }, trial.call)
    await trial.pass(remaining * 0.8)
    const granted = await look(trial)
    const passed = Math.round(trial.clock.now() - brokenAt)
    assert(!granted || passed >= trial.ttl * PART, `granted ${passed} ms after the break`)
  },
})

/** The holder renews; before each heartbeat but one, a client that sees the name for the first time asks for it. */
async function keepAlive(trial: StoreTrial, grant: Grant, holder: LeaseStore, times: number): Promise<void> {
  let renewedAt = trial.clock.now()
  for (let beat = 0; beat < times; beat += 1) {
    await trial.pass(trial.ttl * PART)
    // Two looks are enough to find what an earlier one left behind: each opens a client.
    const isLooking = beat === 0 || beat === times - 1
    const granted = isLooking && (await look(trial))
    const passed = Math.round(trial.clock.now() - renewedAt)
    // On a machine that is busy, the heartbeat may be late.
    if (granted && passed >= trial.ttl) return
    assert(!granted, `granted ${passed} ms after a heartbeat`)
    renewedAt = trial.clock.now()
    await holder.renew(grant, trial.call)
  }
}

/** Asks once for the name with a client of its own, as a process does that lives for a moment. */
async function look(trial: StoreTrial): Promise<boolean> {
  const client = await trial.open()
  return (await trial.acquire(client)).granted
}
