import type { UnitMutant } from '@leasehold/testing'

const client = 'src/http/peer-client.ts'
const failures = 'src/http/peer-failures.ts'
const endpoint = 'src/http/batch-endpoint.ts'
const text = 'src/http/batch-text.ts'
const failuresTest = 'test/http/failures.test.ts'
const transportTest = 'test/http/transport.test.ts'
const mountedTest = 'test/http/mounted.test.ts'
const tlsTest = 'test/http/tls.test.ts'

/** Faults in what is certain about a batch, and in who may send one. */
export const unitMutants: readonly UnitMutant[] = [
  {
    title: 'a request that was sent counts as not sent',
    file: client,
    find: 'progress.isSent = true',
    replace: 'progress.isSent = false',
    test: failuresTest,
    name: 'the signal aborts after the request was sent',
  },
  {
    title: 'a reset of a connection that was used before is taken as an old one, and the request is sent again',
    file: client,
    find: 'if (progress.isSent) {',
    replace: 'if (progress.isSent && !request.reusedSocket) {',
    test: failuresTest,
    name: 'a connection that was used before is reset after the second request',
  },
  {
    title: 'a connection that was not made is an unknown outcome',
    file: client,
    find: 'const progress = { isSent: false }',
    replace: 'const progress = { isSent: true }',
    test: failuresTest,
    name: 'a refused connection',
  },
  {
    title: 'an end of the connection that has arrived is not looked for',
    file: client,
    find: 'if (!request.reusedSocket) {',
    replace: 'if (request.reusedSocket) return send()\n  if (!request.reusedSocket) {',
    test: transportTest,
    name: 'a batch that is being taken gets its receipts, and then nobody listens',
  },
  {
    title: 'the request is sent before the certificate is checked',
    file: client,
    find: `socket.once('encrypted' in socket ? 'secureConnect' : 'connect', send)`,
    replace: `socket.once('connect', send)`,
    test: tlsTest,
    name: 'nothing is sent to a receiver',
  },
  {
    title: 'messages of a process with tls go over an open line',
    file: client,
    find: 'if (tls !== undefined && !isSecure) {',
    replace: 'if (tls === undefined && !isSecure && url.port === "") {',
    test: tlsTest,
    name: 'nothing is sent on an open line',
  },
  {
    title: 'every bad answer counts as not delivered',
    file: failures,
    find: 'if (advice !== undefined) return new NotDeliveredError(',
    replace: 'if (status !== 0) return new NotDeliveredError(',
    test: failuresTest,
    name: 'an answer 502',
  },
  {
    title: 'a refusal counts as unknown',
    file: failures,
    find: '  429:',
    replace: '  499:',
    test: failuresTest,
    name: 'an answer 429',
  },
  {
    title: 'every answer 2xx has receipts',
    file: 'src/http/http-transport.ts',
    find: 'answer.status !== 200',
    replace: 'answer.status > 299',
    test: failuresTest,
    name: 'an answer 201',
  },
  {
    title: 'fewer or more receipts than messages are taken',
    file: text,
    find: 'if (!Array.isArray(value) || value.length !== count) return undefined',
    replace: 'if (!Array.isArray(value)) return undefined',
    test: failuresTest,
    name: 'an answer without a receipt for the message',
  },
  {
    title: 'a receipt can be anything',
    file: text,
    find: 'return value.every(isReceipt) ? value : undefined',
    replace: 'return value',
    test: failuresTest,
    name: 'an answer without a receipt for the message',
  },
  {
    title: 'a wrong secret is accepted',
    file: endpoint,
    find: 'secret !== undefined && !secret.isIn(call.authorization)',
    replace: 'secret !== undefined && call.authorization === undefined',
    test: transportTest,
    name: 'nothing is done without it: "wrong"',
  },
  {
    title: 'a missing secret is accepted',
    file: endpoint,
    find: 'secret !== undefined && !secret.isIn(call.authorization)',
    replace: 'call.authorization !== undefined && secret?.isIn(call.authorization) === false',
    test: transportTest,
    name: 'nothing is done without it: undefined',
  },
  {
    title: 'the certificate of the sender is not checked',
    file: endpoint,
    find: 'if (call.certificateFault !== undefined)',
    replace: 'if (call.certificateFault === "")',
    test: tlsTest,
    name: 'a sender with the certificate of another authority is refused',
  },
  {
    title: 'more batches are taken than the limit',
    file: endpoint,
    find: 'this.#busy >= maxRequests',
    replace: 'this.#busy > maxRequests',
    test: transportTest,
    name: 'batches beyond maxRequests are refused',
  },
  {
    title: 'a batch for one region is given to another',
    file: text,
    find: 'value.region !== region',
    replace: 'value.region === undefined',
    test: mountedTest,
    name: 'the region of another path is no batch',
  },
  {
    title: 'another protocol is read as this one',
    file: text,
    find: 'value.protocol !== PROTOCOL',
    replace: 'value.protocol === undefined',
    test: mountedTest,
    name: 'another protocol, with other fields',
  },
  {
    title: 'a body without a length has no limit',
    file: '../core/src/http/read-text.ts',
    find: "if (size > limit) return 'too-large'",
    replace: "if (size > 100 * limit) return 'too-large'",
    test: mountedTest,
    name: 'a body without a length can be too large',
  },
  {
    title: 'the size of a batch is counted in characters',
    file: text,
    find: 'size += text === undefined ? 0 : Buffer.byteLength(text) + 1',
    replace: 'size += text === undefined ? 0 : text.length / 2',
    test: transportTest,
    name: 'as many messages are sent as fit',
  },
  {
    title: 'the server ends its connections before the receipts are sent',
    file: 'src/http/own-server.ts',
    find: 'await settledInTime(clock, requestTimeout, [...this.#open].map(closeOf))',
    replace: 'await settledInTime(clock, 0, [...this.#open].map(closeOf))',
    test: transportTest,
    name: 'a batch that is being taken gets its receipts',
  },
]
