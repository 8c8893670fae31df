import { describe, expect, it } from 'vitest'
import { checkHistory } from '../../src/index.js'
import { HistoryOf } from './history-of.js'

const two = { client: 2 }

function lost(history: HistoryOf): { readonly broken: number; readonly overwrittenUnseen: number } {
  const { violations, figures } = checkHistory(history.until(1_000), { longestRecovery: 10_000 })
  const broken = violations.filter(({ check }) => check === 'lost-write').length
  return { broken, overwrittenUnseen: figures.overwrittenUnseen }
}

describe('lost-write', () => {
  it('accepts numbers that grow, and are read', () => {
    const history = new HistoryOf()
      .read(0, 1, undefined)
      .write(2, 3, 1n, 1)
      .read(4, 5, '1/1', two)
      .write(6, 7, 2n, 2, two)
      .read(8, 9, '2/2')
    expect(lost(history)).toEqual({ broken: 0, overwrittenUnseen: 0 })
  })

  it('finds a number that is not larger than one that was acknowledged before', () => {
    const history = new HistoryOf().write(2, 3, 1n, 5).read(4, 5, '4/1', two).write(6, 7, 2n, 5, two)
    expect(lost(history).broken).toBeGreaterThan(0)
  })

  it('finds a number that repeats an earlier one, without any read', () => {
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).write(6, 7, 2n, 5, two)).broken).toBe(1)
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).write(6, 7, 2n, 4, two)).broken).toBe(1)
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).write(6, 7, 2n, 6, two)).broken).toBe(0)
  })

  it('finds a number that was acknowledged for two values', () => {
    expect(lost(new HistoryOf().write(2, 6, 1n, 5).write(3, 7, 1n, 5, two)).broken).toBe(1)
  })

  it('finds a read of less than what was acknowledged', () => {
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).read(4, 5, '4/3', two)).broken).toBe(1)
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).read(4, 5, undefined, two)).broken).toBe(1)
    expect(lost(new HistoryOf().write(2, 3, 1n, 5).read(1, 5, undefined, two)).broken).toBe(0)
  })

  it('accepts the last write of a former holder before the next one has written', () => {
    const history = new HistoryOf()
      .read(0, 1, undefined)
      .write(2, 3, 1n, 1)
      // The next holder reads, and the former one writes once more.
      .read(10, 11, '1/1', two)
      .read(12, 13, '1/1')
      .write(14, 15, 1n, 2)
      .write(16, 17, 2n, 2, two)
      .read(18, 19, '2/2')
      .write(20, 21, 2n, 3, two)
    expect(lost(history)).toEqual({ broken: 0, overwrittenUnseen: 1 })
  })

  it('accepts a write that was delivered late, after one more of the same holder', () => {
    const history = new HistoryOf()
      .read(0, 1, undefined)
      .write(2, 3, 1n, 1, { outcome: 'unknown', value: '1/1.1' })
      .read(4, 5, undefined)
      .write(6, 7, 1n, 1, { value: '1/1.2' })
      .read(8, 9, '1/1.2')
      .write(10, 11, 1n, 2)
      .read(12, 13, '1/1.1')
      .write(14, 15, 1n, 2, { value: '2/1.2' })
    expect(lost(history)).toEqual({ broken: 0, overwrittenUnseen: 1 })
  })

  it('finds the same where the earlier write had been read before', () => {
    const history = new HistoryOf()
      .read(0, 1, undefined)
      .write(2, 3, 1n, 1)
      .read(10, 11, '1/1', two)
      .write(14, 15, 2n, 2, two)
      .read(16, 17, '1/1')
    expect(lost(history).broken).toBe(1)
  })
})
