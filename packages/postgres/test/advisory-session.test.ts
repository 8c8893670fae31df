import { EventEmitter } from 'node:events'
import { systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import type { Pool } from 'pg'
import { expect, it } from 'vitest'
import { pgPoolAdapter } from '../src/client/pg-adapter.js'
import { AdvisorySession } from '../src/compat/advisory-session.js'

const never = new AbortableCall()

/** Answers a heartbeat as a session that an operator has ended. The end of its connection comes later. */
class EndedClient extends EventEmitter {
  readonly processID = 7
  async connect(): Promise<void> {}
  async end(): Promise<void> {}
  async query(text: string): Promise<{ readonly rows: readonly unknown[] }> {
    if (text !== 'select 1') return { rows: [{ pid: 7, locked: true }] }
    throw Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' })
  }
}

it('a session that the server has ended is over with that answer, before its connection ends', async () => {
  const pool = { options: {}, Client: EndedClient, connect: () => {}, query: () => {} } as unknown as Pool
  const { openSession } = pgPoolAdapter(pool)
  if (openSession === undefined) throw new Error('the adapter opens no sessions')
  const session = new AdvisorySession(openSession, systemClock)
  expect(await session.lock('g', '1', Number.POSITIVE_INFINITY, never)).toBe(true)
  expect(session.isHeld('g')).toBe(true)
  await session.confirm(never)
  expect(session.isHeld('g')).toBe(false)
  session.close()
})
