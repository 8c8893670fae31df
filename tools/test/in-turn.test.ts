import { inTurn } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const all = [0, 1, 2, 3, 4, 5, 6]

describe('the members of a list whose turn it is', () => {
  it('are all of them where no turns are asked for', () => {
    expect(inTurn(all, 'MUTANTS_TURN', undefined)).toEqual(all)
  })

  it.each([2, 3, 10])('in %i turns, each comes once', (turns) => {
    const seen = Array.from({ length: turns }, (_, turn) => inTurn(all, 'SERVERS_TURN', `${turn}/${turns}`)).flat()
    expect(seen.toSorted()).toEqual(all)
  })

  it.each(['', '2/2', '1', 'a/b', '0/0', '-1/2'])("are an error where '%s' is asked for", (asked) => {
    expect(() => inTurn(all, 'SITE_TURN', asked)).toThrow('SITE_TURN is')
  })
})
