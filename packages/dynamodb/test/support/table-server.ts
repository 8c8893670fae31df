import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AttributeValue,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb'
import { wallTime } from '@leasehold/core/store-kit'
import { DynamodbLeaseStore, type DynamodbLeaseStoreOptions } from '@leasehold/dynamodb'
import dynalite from 'dynalite'

/** A request, as the server got it. */
export interface SeenRequest {
  /** Such as `GetItem`. */
  readonly action: string
  readonly input: Readonly<Record<string, unknown>>
  /** The time in the signature, as ISO 8601. */
  readonly signedAt: string
}

/** An error as the service answers it. */
interface ServiceError {
  readonly status?: number
  readonly type: string
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What happens to a request. An error or an output: it is answered with that, and not executed. An input: that is executed
 * instead. `lost`: it is executed, and the connection ends before the answer. `hang`: nothing happens.
 */
export type Fate = ServiceError | { readonly output: object } | { readonly input: object } | 'lost' | 'hang' | undefined

/** The input of a conditional write, as far as it is used here. */
interface PutInput {
  readonly ReturnValuesOnConditionCheckFailure?: string
  readonly TableName: string
  readonly Key: Readonly<Record<string, AttributeValue>>
  readonly Item?: Readonly<Record<string, AttributeValue>>
}

/**
 * dynalite in this process, behind a server that gives its answers the date of the test, and can answer requests itself.
 */
export class TableServer {
  readonly url: string
  readonly requests: SeenRequest[] = []
  /** The fate of each request; those without one reach dynalite. */
  fate: (request: SeenRequest) => Fate = () => undefined
  /** The time of the service when it answers about a table, in milliseconds. */
  time: (table?: unknown) => number = wallTime
  /** Whether answers have a Date header. */
  isDated = true
  readonly #server: Server
  readonly #tables: Server
  readonly #sockets: Set<Socket>
  #names = 0

  private constructor(server: Server, tables: Server, sockets: Set<Socket>) {
    this.#server = server
    this.#tables = tables
    this.#sockets = sockets
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<TableServer> {
    const tables = dynalite({ createTableMs: 0, deleteTableMs: 0 })
    const sockets = new Set<Socket>()
    const server = createServer()
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    for (const each of [server, tables]) await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))
    return new TableServer(server, tables, sockets)
  }

  /** A client without retries, so that tests see failures. */
  client(config: DynamoDBClientConfig = {}): DynamoDBClient {
    return clientOf(this.url, config)
  }

  /** A table of its own. */
  async table(): Promise<string> {
    this.#names += 1
    const name = `leases-${this.#names}`
    await createTable(this.client(), name)
    return name
  }

  store(options: DynamodbLeaseStoreOptions = {}, config: DynamoDBClientConfig = {}): DynamodbLeaseStore {
    return new DynamodbLeaseStore(this.client(config), options)
  }

  /** How many requests of each action to a table the work takes. */
  async countOf(table: string, work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
    const before = this.requests.length
    await work()
    const counts: Record<string, number> = {}
    for (const { action, input } of this.requests.slice(before)) {
      if (input.TableName === table) counts[action] = (counts[action] ?? 0) + 1
    }
    return counts
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    this.#tables.closeAllConnections()
    await new Promise((resolve) => this.#tables.close(resolve))
  }

  /** dynalite does not give the item with a refusal, as the service does. */
  async #itemAt(table: string, item: Readonly<Record<string, AttributeValue>>): Promise<unknown> {
    const { port } = this.#tables.address() as AddressInfo
    const client = this.client({ endpoint: `http://127.0.0.1:${port}` })
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
    const key = Table?.KeySchema?.[0]?.AttributeName ?? ''
    const Key = { [key]: item[key] as AttributeValue }
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }))
    client.destroy()
    return Item
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    let body = Buffer.concat(chunks)
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const seen = { action, input: JSON.parse(body.toString() || '{}'), signedAt: signedAtIn(request) }
    this.requests.push(seen)
    if (this.isDated) response.setHeader('date', new Date(this.time(seen.input.TableName)).toUTCString())
    else response.sendDate = false
    const fate = this.fate(seen)
    if (fate === 'hang') return
    if (fate === 'lost') Object.assign(response, { end: () => request.socket.destroy() })
    else if (fate !== undefined && 'input' in fate) body = Buffer.from(JSON.stringify(fate.input))
    else if (fate !== undefined) {
      const type = 'application/x-amz-json-1.0'
      const { status, headers, text } = answerOf(fate)
      response.writeHead(status, { 'content-type': type, ...headers }).end(text)
      return
    }
    const { ReturnValuesOnConditionCheckFailure: asks, TableName, Key, Item = Key } = seen.input as unknown as PutInput
    const { headers, method, url } = request
    if (asks === 'ALL_OLD' && fate === undefined) {
      const end = response.end.bind(response) as (text: string) => ServerResponse
      const answer = async (text: string) => {
        if (!text.includes('ConditionalCheckFailed')) return end(text)
        const found = await this.#itemAt(TableName, Item)
        const withItem = JSON.stringify({ ...JSON.parse(text), Item: found })
        response.setHeader('content-length', Buffer.byteLength(withItem))
        return end(withItem)
      }
      Object.assign(response, { end: (text: string) => void answer(text) })
    }
    // dynalite reads the body once more.
    this.#tables.emit('request', Object.assign(Readable.from([body]), { headers, method, url }), response)
  }
}

/** `20300101T000000Z` in the header. */
function signedAtIn({ headers }: IncomingMessage): string {
  const [, date = '', hours, minutes, seconds] =
    /^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? []
  return `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${hours}:${minutes}:${seconds}Z`
}

function answerOf(fate: ServiceError | { readonly output: object }) {
  if ('output' in fate) return { status: 200, headers: {}, text: JSON.stringify(fate.output) }
  const { status = 400, type, message = type, headers = {} } = fate
  return { status, headers, text: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }) }
}

/** moto loses writes that happen beside a transaction which it cancels. */
export const oneAtATime = { httpAgent: { maxSockets: 1, keepAlive: true } } as const

/** A client of a server of tests, without retries. */
export function clientOf(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1, ...config })
}

export async function createTable(
  client: DynamoDBClient,
  name: string,
  partitionKey = 'name',
  sortKey?: string,
): Promise<void> {
  const keys = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: keys.map((key, place) => ({ AttributeName: key, KeyType: place === 0 ? 'HASH' : 'RANGE' })),
    }),
  )
  // The waiters of the SDK look too seldom.
  while ((await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus !== 'ACTIVE') {
    await sleep(2)
  }
}
