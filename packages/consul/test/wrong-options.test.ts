import { Agent } from 'node:http'
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { describe, expect, it } from 'vitest'

describe('addresses in code', () => {
  it.each([
    [
      'a text',
      'http://127.0.0.1:8500',
      /^addresses must be a list of texts, such as \['http:\/\/127.0.0.1:8500'\], not a string$/,
    ],
    ['a URL', new URL('http://127.0.0.1:8500'), /^addresses must be a list of texts.*, not an object$/],
    ['null', null, /^addresses must be a list of texts.*, not null$/],
    [
      'a list with a URL in it',
      [new URL('http://127.0.0.1:8500')],
      /^addresses must be a list of texts.*: an object is none$/,
    ],
    ['an empty list', [], /^addresses must be a list of texts.*: it is empty$/],
  ])('%s is a LeaseConfigurationError that says to give a list', (_, addresses, message) => {
    const expected = expect.objectContaining({
      name: 'LeaseConfigurationError',
      message: expect.stringMatching(message),
      store: 'consul',
    })
    expect(() => new ConsulLeaseStore({ addresses: addresses as never })).toThrow(expected)
    expect(() => new ConsulGuard({ addresses: addresses as never })).toThrow(expected)
  })
})

it('certificates beside an agent, which has its own, are a LeaseConfigurationError', () => {
  const options = { agent: new Agent(), caFile: 'ca.pem' }
  expect(() => new ConsulLeaseStore(options)).toThrow('give agent, or caFile, certFile and keyFile')
  expect(() => new ConsulGuard(options)).toThrow('give agent, or caFile, certFile and keyFile')
})
