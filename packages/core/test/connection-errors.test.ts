import { isUnconnected, networkMessage } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

const failed = (syscall: string, message: string) => Object.assign(new Error(message), { syscall })
const both = new AggregateError([
  failed('connect', 'connect ECONNREFUSED ::1:6379'),
  failed('connect', 'connect ECONNREFUSED 127.0.0.1:6379'),
])

describe('an error of the network', () => {
  it('has the reasons of all addresses of a host', () => {
    expect(networkMessage(both)).toBe('connect ECONNREFUSED ::1:6379; connect ECONNREFUSED 127.0.0.1:6379')
    expect([networkMessage(new Error('reset')), networkMessage('odd')]).toEqual(['reset', 'odd'])
  })

  it('says whether it is certain that no connection was made', () => {
    expect([both, failed('connect', 'refused'), failed('getaddrinfo', 'ENOTFOUND')].map(isUnconnected)).toEqual([
      true,
      true,
      true,
    ])
    const uncertain = [
      failed('read', 'ECONNRESET'),
      new Error('timeout'),
      // One of the attempts may have sent the request.
      new AggregateError([failed('connect', 'refused'), failed('read', 'ECONNRESET')]),
      new AggregateError([]),
      ...[undefined, null, 'odd'],
    ]
    expect(uncertain.filter(isUnconnected)).toEqual([])
  })
})
