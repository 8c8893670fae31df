import assert from 'node:assert/strict'
import { LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import type { GuardAbility, GuardBackend, GuardedResource, GuardSubject } from './guard-subject.js'
import { type Law, lawsWith } from './law.js'

/** A rule that a fencing guard has to keep. */
export type GuardLaw = Law<GuardTrial, GuardAbility>

/** Makes laws that get two guards of the resource. */
export const guardLawsOf = lawsWith<GuardTrial, GuardAbility, readonly [GuardedResource, GuardedResource]>(
  async (trial) => [await trial.guard(), await trial.open()],
)

/** How often a write is repeated that was rejected because of others that wrote at the same time. */
const ATTEMPTS = 50

interface AbleGuard {
  readonly subject: GuardSubject
  readonly backend: GuardBackend
  readonly guard: GuardedResource
}

/** For each ability: whether a guard has it, and why laws that need it are skipped otherwise. */
const abilities: Readonly<Record<GuardAbility, readonly [has: (guard: AbleGuard) => boolean, lack: string]>> = {
  deletion: [({ guard }) => guard.delete !== undefined, 'nothing is deleted through the guard'],
  reading: [({ guard }) => guard.read !== undefined, 'nothing is read through the guard'],
  interruption: [
    ({ guard }) => guard.writeAfter !== undefined,
    'the guard calls no asynchronous code of the user before it writes',
  ],
  'own-errors': [({ backend }) => backend.ownFailures !== undefined, "the subject has no failures of the user's own"],
  guards: [({ subject }) => subject.guards !== false, 'there is one guard only'],
}

/** The surroundings of one law over a guard: a resource of its own, and guards of it. */
export class GuardTrial {
  readonly backend: GuardBackend
  readonly #subject: GuardSubject
  readonly #opened = new Set<GuardedResource>()

  private constructor(subject: GuardSubject, backend: GuardBackend) {
    this.#subject = subject
    this.backend = backend
  }

  static async begin(subject: GuardSubject): Promise<GuardTrial> {
    return new GuardTrial(subject, await subject.start())
  }

  /** A guard of the resource; the same again where there can only be one. */
  async open(): Promise<GuardedResource> {
    const guard = await this.backend.open()
    this.#opened.add(guard)
    return guard
  }

  /** The guard that was opened first. */
  async guard(): Promise<GuardedResource> {
    const [first] = this.#opened
    return first ?? (await this.open())
  }

  /** Why the subject cannot run a law with these needs. */
  async lacks(needs: readonly GuardAbility[]): Promise<string | undefined> {
    const able = { subject: this.#subject, backend: this.backend, guard: await this.guard() }
    return needs.map((need) => abilities[need]).find(([has]) => !has(able))?.[1]
  }

  /** The value, read past every guard. */
  async value(): Promise<string | undefined> {
    return await this.backend.read()
  }

  /** Checks that the value is this one. */
  async holds(value: string | undefined): Promise<void> {
    assert.equal(await this.value(), value)
  }

  /** Writes the token itself as the value: it has to be accepted. */
  async accepted(guard: GuardedResource, fencingToken: bigint, value = String(fencingToken)): Promise<void> {
    await guard.write(value, fencingToken)
    await this.holds(value)
  }

  /** Runs a call that must be rejected because of a larger token, and must not change the value. */
  async rejected(write: () => unknown): Promise<void> {
    const before = await this.value()
    const error = await rejectionOf(write)
    assert(error instanceof LeaseLostError, `a LeaseLostError was expected, not ${shown(error)}`)
    assert.equal(error.reason, 'taken')
    await this.holds(before)
  }

  /** Repeats a write that the guard gave up because others wrote at the same time, as its error advises. */
  async contending(write: () => unknown): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const error = await rejectionOf(write)
      if (error === undefined) return
      if (!(error instanceof LeaseUnavailableError) || attempt === ATTEMPTS) throw error
    }
  }

  async end(): Promise<void> {
    for (const guard of this.#opened) await guard.close?.()
    await this.backend.stop?.()
  }
}

/** The error of a call; `undefined` if it succeeds. */
export async function rejectionOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    assert(error !== undefined, 'a rejection must have a reason')
    return error
  }
}

export function shown(error: unknown): string {
  return error instanceof Error ? `${error.constructor.name}: ${error.message}` : `${typeof error} ${String(error)}`
}
