import { describe, expect, it } from 'vitest'
import { TokenKeeper } from '../../client/api/token.js'

function place(hash: string) {
  const kept = new Map<string, string>()
  const addresses: string[] = []
  return {
    kept,
    addresses,
    address: { hash, replaceHash: (next: string) => void addresses.push(next) },
    storage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    },
  }
}

describe('TokenKeeper', () => {
  it('takes the token out of the address, and keeps it for this tab', () => {
    const { address, addresses, storage } = place('#token=a%2Fsecret')
    expect(new TokenKeeper(storage).takeFrom(address)).toBe(true)
    expect(addresses).toEqual(['#/'])
    expect(new TokenKeeper(storage).token).toBe('a/secret')
  })

  it('leaves another address alone', () => {
    const { address, addresses, storage } = place('#/lease/token=x')
    expect(new TokenKeeper(storage).takeFrom(address)).toBe(false)
    expect(addresses).toEqual([])
  })

  it('takes a token that is not encoded', () => {
    const { address, storage } = place('#token=100%')
    const keeper = new TokenKeeper(storage)
    keeper.takeFrom(address)
    expect(keeper.token).toBe('100%')
  })

  it('works for the time of the visit where the browser keeps nothing', () => {
    const fail = () => {
      throw new Error('storage is off')
    }
    const keeper = new TokenKeeper({ getItem: fail, setItem: fail, removeItem: fail })
    expect(keeper.token).toBeUndefined()
    keeper.token = 'secret'
    expect(keeper.token).toBe('secret')
  })
})
