import type { LeaseRecord } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { LeaseHistory } from '../src/history/lease-history.js'
import { version } from '../src/server/version.js'

const HOUR = 3_600_000

function grant(name: string, token: number): LeaseRecord {
  const fencingToken = BigInt(token)
  return {
    name,
    owner: 'a',
    grantId: `grant-${token}`,
    fencingToken,
    state: 'leased',
    metadata: {},
    ttl: 10,
    remaining: 10,
  }
}

const noEnd = (): undefined => undefined

describe('LeaseHistory', () => {
  it('keeps 100,000 spans, forgets the oldest first, and says of which names', () => {
    const history = new LeaseHistory(HOUR)
    history.begin(0)
    for (let token = 1; token <= 100_500; token += 1) {
      const name = token <= 1_000 ? 'old' : 'busy'
      history.see(grant(name, token), token, noEnd)
    }
    expect(history.size).toBe(100_000)
    const { isCut, spans } = history.answer({ names: ['old', 'busy', 'none'], from: 0, to: HOUR })
    expect(isCut).toEqual(['old', 'busy'])
    // `old` had 1,000 grants: the first 500 were forgotten. The last one of `busy` has no end.
    expect(spans.old).toHaveLength(500)
    expect(spans.busy).toHaveLength(2_000)
    expect(spans.busy?.at(-1)).toMatchObject({ token: '100500' })
    expect(history.answer({ names: ['busy'], from: 99_000, to: HOUR }).isCut).toEqual([])
  })

  it('forgets what is older than historyFor', () => {
    const history = new LeaseHistory(HOUR)
    history.begin(0)
    history.see(grant('orders', 1), 0, noEnd)
    history.onListed(0, HOUR)
    history.see(grant('orders', 2), 1_000, noEnd)
    history.onListed(1_000, HOUR)
    expect(history.answer({ names: ['orders'], from: 0, to: HOUR }).spans.orders).toHaveLength(2)
    history.onListed(HOUR + 2_000, 2 * HOUR)
    const { spans, isCut } = history.answer({ names: ['orders'], from: 0, to: 2 * HOUR })
    expect(spans.orders).toMatchObject([{ token: '2' }])
    expect(isCut).toEqual([])
  })

  it('answers with the spans that touch the time that is asked for', () => {
    const history = new LeaseHistory(HOUR)
    history.begin(0)
    for (let token = 1; token <= 10; token += 1) history.see(grant('orders', token), token * 100, noEnd)
    const { spans } = history.answer({ names: ['orders'], from: 250, to: 450 })
    expect(spans.orders?.map(({ token }) => token)).toEqual(['3', '4'])
  })

  it('takes the beginning of a grant from the store only between two looks', () => {
    const history = new LeaseHistory(HOUR)
    history.begin(0)
    history.onListed(1_000, HOUR)
    for (const [name, grantedAt] of [
      ['between', 1_400],
      ['too-early', 10],
      ['too-late', 99_000],
    ] as const) {
      history.see({ ...grant(name, 1), grantedAt }, 2_000, noEnd)
    }
    const { spans } = history.answer({ names: ['between', 'too-early', 'too-late'], from: 0, to: HOUR })
    expect([spans.between, spans['too-early'], spans['too-late']].map((of) => of?.[0]?.from)).toEqual([
      1_400, 1_000, 2_000,
    ])
  })
})

it('the version that the page compares is that of the package', () => {
  expect(version).toBe(manifest.version)
})
