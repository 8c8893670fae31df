import { type HttpTransport, type HttpTransportTls, httpTransport } from '@leasehold/sharding'
import { certificatesFor, type SignedCertificate } from '@leasehold/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { accepted, accepting, batchOf, event, forever, outcomeOf } from './support/batches.js'

type Three = [SignedCertificate, SignedCertificate, SignedCertificate]

const [own, peer, elsewhere] = (await certificatesFor('127.0.0.1', '127.0.0.1', 'elsewhere.example')) as Three
const [stranger] = (await certificatesFor('127.0.0.1')) as [SignedCertificate]

const opened: HttpTransport[] = []

afterEach(async () => {
  for (const transport of opened.splice(0)) await transport.close('accounts')
})

async function receiverWith(tls: HttpTransportTls) {
  const receiver = httpTransport({ address: 'https://127.0.0.1:0', tls })
  opened.push(receiver)
  const { batches, handler } = accepting()
  await receiver.listen('accounts', handler)
  return { receiver, batches }
}

function senderWith(tls: HttpTransportTls): HttpTransport {
  return httpTransport({ address: 'https://127.0.0.1:0', tls })
}

describe('mutual TLS', () => {
  test('batches arrive between processes with certificates of one authority', async () => {
    const { receiver, batches } = await receiverWith(own)
    const sender = senderWith(peer)
    expect(receiver.address).toMatch(/^https:/)
    for (let index = 0; index < 3; index += 1) {
      expect(await sender.send(receiver.address, batchOf([event('a')]), forever)).toEqual([accepted])
    }
    expect(batches).toHaveLength(3)
  })

  test('a sender with the certificate of another authority is refused, and told why', async () => {
    const { receiver, batches } = await receiverWith(own)
    const sender = senderWith({ ...stranger, ca: own.ca })
    const [outcome, sentence] = await outcomeOf(sender.send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('set tls with a certificate that the CA of this process has signed')
    expect(batches).toEqual([])
  })

  test('a sender without a certificate is refused', async () => {
    const { receiver, batches } = await receiverWith(own)
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    const { request } = await import('node:https')
    const status = await new Promise((resolve, reject) => {
      const url = `${receiver.address}/leasehold-sharding/accounts`
      const sent = request(url, { method: 'POST', ca: own.ca, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(batchOf([event('a')])))
    })
    expect(process.env.NODE_TLS_REJECT_UNAUTHORIZED).toBe(before)
    expect(status).toBe(401)
    expect(batches).toEqual([])
  })

  test('nothing is sent to a receiver with the certificate of another authority', async () => {
    const { receiver, batches } = await receiverWith({ ...stranger, ca: own.ca })
    const [outcome, sentence] = await outcomeOf(senderWith(peer).send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('cannot be connected to')
    expect(batches).toEqual([])
  })

  test('nothing is sent to a receiver whose certificate is for another host', async () => {
    const { receiver, batches } = await receiverWith(elsewhere)
    const [outcome, sentence] = await outcomeOf(senderWith(peer).send(receiver.address, batchOf([event('a')]), forever))
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('add the host of its address to the names of the certificate')
    expect(batches).toEqual([])
  })

  test('nothing is sent on an open line', async () => {
    const [outcome, sentence] = await outcomeOf(
      senderWith(peer).send('http://127.0.0.1:1', batchOf([event('a')]), forever),
    )
    expect(outcome).toBe('not-delivered')
    expect(sentence).toContain('set tls in all processes')
  })
})
