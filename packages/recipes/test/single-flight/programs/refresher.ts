/**
 * `refresher.ts TASK`: gets values again and again, and refreshes each when it expires. The parent is the identity provider.
 * TASK is JSON.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { SingleFlight } from '@leasehold/recipes'
import type { FromParent, RefresherTask, ToParent } from '../fleet/refresh-fleet.js'
import type { FamilyTokens } from '../fleet/token-family.js'

const { folder, owner, accounts, ttl, freshFor, staleFor } = JSON.parse(process.argv[2] ?? '{}') as RefresherTask

function send(message: ToParent): void {
  if (process.connected) process.send?.(message)
}

/** The pause of one caller before it asks again, in milliseconds. */
const PAUSE = 3

const answers = new Map<number, (tokens: FamilyTokens | undefined) => void>()
process.on('message', ({ account, tokens }: FromParent) => answers.get(account)?.(tokens))
// The child must not outlive its parent.
process.on('disconnect', () => process.exit())

async function ask(account: number, previous: FamilyTokens | undefined, interrupted: boolean): Promise<FamilyTokens> {
  const answered = new Promise<FamilyTokens | undefined>((resolve) => {
    answers.set(account, resolve)
  })
  send({ event: 'refresh', account, previous, interrupted })
  const tokens = await answered
  if (tokens === undefined) throw new Error('the session was revoked')
  return tokens
}

const flight = new SingleFlight(new LocalLeaseStore({ folder }), {
  owner,
  heartbeatTimeout: ttl,
  heartbeatInterval: ttl / 8,
  operationTimeout: ttl / 4,
})
// Failures behind the callers count, too.
flight.on('error', () => send({ event: 'failed' }))

async function getAgain(account: number): Promise<never> {
  for (;;) {
    const startedAt = systemClock.now()
    try {
      await flight.get<FamilyTokens>(
        `tokens-${account}`,
        ({ previous, interrupted }) => ask(account, previous, interrupted),
        { freshFor, staleFor },
      )
      const waited = systemClock.now() - startedAt
      if (waited > 1) send({ event: 'waited', waited })
    } catch {
      send({ event: 'failed' })
    }
    await pause(PAUSE * accounts)
  }
}

for (let account = 0; account < accounts; account += 1) void getAgain(account)
