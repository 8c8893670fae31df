import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import { describe, expect, it } from 'vitest'

describe('endpoints in code', () => {
  it.each([
    [
      'a text',
      'http://localhost:2379',
      /^endpoints must be a list of texts, such as \['http:\/\/localhost:2379'\], not a string$/,
    ],
    ['a URL', new URL('http://localhost:2379'), /^endpoints must be a list of texts.*, not an object$/],
    ['null', null, /^endpoints must be a list of texts.*, not null$/],
    [
      'a list with a URL in it',
      [new URL('http://localhost:2379')],
      /^endpoints must be a list of texts.*: an object is none$/,
    ],
    ['an empty list', [], /^endpoints must be a list of texts.*: it is empty$/],
  ])('%s is a LeaseConfigurationError that says to give a list', (_, endpoints, message) => {
    const expected = expect.objectContaining({
      name: 'LeaseConfigurationError',
      message: expect.stringMatching(message),
      store: 'etcd',
    })
    expect(() => new EtcdClient({ endpoints: endpoints as never })).toThrow(expected)
    expect(() => new EtcdLeaseStore({ endpoints: endpoints as never })).toThrow(expected)
  })

  it.each([
    ['no list', new URL('http://localhost:2379'), /^clients must be a list of clients of @grpc\/grpc-js/],
    ['an empty list', [], /^clients must be a list/],
    ['a list of addresses', ['http://localhost:2379'], /^clients must be a list/],
  ])('%s of clients is a LeaseConfigurationError', (_, clients, message) => {
    expect(() => new EtcdClient({ clients: clients as never })).toThrow(message)
  })

  it('are not given beside clients, which have addresses and certificates of their own', () => {
    const clients = [{ getChannel: () => expect.fail() }] as const
    for (const other of [{ endpoints: ['http://localhost:2379'] }, { tls: {} }]) {
      expect(() => new EtcdClient({ clients, ...other })).toThrow('give clients, or endpoints and tls')
    }
  })

  it('no error shows what stands in it: an address may have a password in it', () => {
    for (const endpoints of ['http://user:secret@localhost:2379', [['secret']]]) {
      expect(() => new EtcdClient({ endpoints: endpoints as never })).toThrow(/^(?!.*secret)/)
    }
  })
})
