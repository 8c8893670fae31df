import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readHoldings } from '../src/holding-record.js'

function holdingsOf(lines: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-failover-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'holdings-anna.txt'), lines.map((line) => `${line}\n`).join(''))
  return readHoldings(folder, 'anna')
}

describe('the record of a holder', () => {
  it('joins consecutive looks with the lease, from the first to the last', () => {
    expect(holdingsOf(['10 11 1 7 100', '20 21 1 7 90', '30 31 1 7 80'])).toEqual([
      { holder: 'anna', token: '7', from: 10, to: 31, validUntil: 111, looks: 3 },
    ])
  })

  it('ends a holding at a look without the lease: a stop does not count as held', () => {
    const holdings = holdingsOf(['10 11 1 7 100', '5000 5001 0 0 0', '6000 6001 1 9 100'])
    expect(holdings.map(({ from, to }) => [from, to])).toEqual([
      [10, 11],
      [6000, 6001],
    ])
  })

  it('distinguishes grants by their tokens', () => {
    expect(holdingsOf(['10 11 1 7 100', '12 13 1 8 100']).length).toBe(2)
  })
})
