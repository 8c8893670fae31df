/**
 * `refresher.ts TASK`: gets one value again and again, and refreshes it when it expires. The parent is the identity provider.
 * TASK is JSON.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { SingleFlight } from '@leasehold/recipes'
import type { FromParent, RefresherTask, ToParent } from '../fleet/refresh-fleet.js'
import type { FamilyTokens } from '../fleet/token-family.js'

const { folder, owner, ttl, freshFor, staleFor } = JSON.parse(process.argv[2] ?? '{}') as RefresherTask

function send(message: ToParent): void {
  if (process.connected) process.send?.(message)
}

let answer = (_: FamilyTokens | undefined): void => {}
process.on('message', (message: FromParent) => answer(message.tokens))
// The child must not outlive its parent.
process.on('disconnect', () => process.exit())

async function ask(previous: FamilyTokens | undefined, interrupted: boolean): Promise<FamilyTokens> {
  const answered = new Promise<FamilyTokens | undefined>((resolve) => {
    answer = resolve
  })
  send({ event: 'refresh', previous, interrupted })
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

for (;;) {
  const startedAt = systemClock.now()
  try {
    const { refreshToken } = await flight.get<FamilyTokens>(
      'tokens',
      ({ previous, interrupted }) => ask(previous, interrupted),
      { freshFor, staleFor },
    )
    const waited = systemClock.now() - startedAt
    if (waited > 1) send({ event: 'waited', waited, refreshToken })
  } catch {
    send({ event: 'failed' })
  }
  await pause(3)
}
