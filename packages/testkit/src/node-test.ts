import { describe, it } from 'node:test'
import { describersFor } from './laws/families.js'

const describers = describersFor({
  group: (title, sideBySide, tests) => void describe(title, { concurrency: sideBySide }, tests),
  test: (title, limit, check) => void it(title, limit, (test) => check((reason) => test.skip(reason))),
})

/** A test of `node:test` for each law of stores. Laws that the store cannot run are skipped, with the reason. */
export const describeStoreLaws = describers.stores

/** A test of `node:test` for each law of leases. Laws that the leases cannot run are skipped, with the reason. */
export const describeLeaseLaws = describers.leases

/** A test of `node:test` for each law of fencing guards. Laws that the guard cannot run are skipped, with the reason. */
export const describeGuardLaws = describers.guards
