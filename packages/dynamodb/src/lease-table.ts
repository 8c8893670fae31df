import type * as Sdk from '@aws-sdk/client-dynamodb'
import type { Clock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { pause, untilAborted, withOwnSignal } from '@leasehold/core/store-kit'
import type { DynamodbClient } from './dynamodb-options.js'
import { failureOf, isNamed, isWithoutTable } from './failure-of.js'
import type { Item } from './lease-item.js'
import { keySchema, type TableName } from './table-advice.js'

/** The use of a request, for its errors: such as `read of lease 'a'`. */
export interface Operation {
  readonly name: string
  readonly leaseName?: string | undefined
}

export interface Answer<T> {
  readonly output: T
  /** The time of the service when it answered, in milliseconds since 1970: whole seconds, rounded down. `NaN` without one. */
  readonly date: number
}

/** The answer to a conditional write. */
export interface WriteAnswer {
  readonly isWritten: boolean
  /** If the condition did not hold: the item as it is, where the service gives it. */
  readonly item?: Item | undefined
  readonly date: number
}

/** A condition, with its names and values. */
export type Condition = Pick<
  Sdk.PutItemCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/** A command of the SDK. */
interface Command {
  readonly middlewareStack: object
}

/** The stack of a command, as far as it is used here. */
interface Stack {
  add(watch: (next: Handler) => Handler, place: { readonly step: 'deserialize'; readonly priority: 'low' }): void
}

type Handler = (request: unknown) => Promise<{ readonly response: unknown }>

/** How long to wait between two looks at a table that is being made, in milliseconds. */
const CREATION_LOOKS = 250

/** The requests to one table, over the user's client. */
export class LeaseTable {
  readonly name: TableName
  readonly #client: DynamodbClient
  readonly #creator: Clock | undefined

  /** `creator`: the clock for the creation of the table; `undefined` if the table has to be there. */
  constructor(client: DynamodbClient, name: TableName, creator?: Clock) {
    this.#client = client
    this.name = name
    this.#creator = creator
  }

  /** A strongly consistent read. */
  async get(key: Item, operation: Operation, call: StoreCall): Promise<Answer<Item | undefined>> {
    const input = { TableName: this.name.table, Key: key, ConsistentRead: true }
    const { output, date } = await this.send<Sdk.GetItemCommandOutput>(
      operation,
      call,
      ({ GetItemCommand }) => new GetItemCommand(input),
    )
    return { output: output.Item, date }
  }

  /** Replaces the item if the condition holds. */
  async put(item: Item, condition: Condition, operation: Operation, call: StoreCall): Promise<WriteAnswer> {
    const input = { TableName: this.name.table, Item: item, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const
    return await this.#ifMet(operation, call, ({ PutItemCommand }) => new PutItemCommand({ ...input, ...condition }))
  }

  /** Changes attributes of the item if the condition holds. */
  async update(
    key: Item,
    update: string,
    condition: Condition,
    operation: Operation,
    call: StoreCall,
  ): Promise<WriteAnswer> {
    const input = { TableName: this.name.table, Key: key, UpdateExpression: update, ...condition }
    return await this.#ifMet(operation, call, ({ UpdateItemCommand }) => new UpdateItemCommand(input))
  }

  /** Sends a command, in as many attempts as the client makes within the time of the call. */
  async send<T>(operation: Operation, call: StoreCall, make: (sdk: typeof Sdk) => Command): Promise<Answer<T>> {
    return await this.sendOr<T, never>(operation, call, make, () => undefined)
  }

  /** As `send`, but an error of the SDK for which `expected` has an answer is no failure. */
  async sendOr<T, R>(
    operation: Operation,
    call: StoreCall,
    make: (sdk: typeof Sdk) => Command,
    expected: (error: unknown) => R | undefined,
  ): Promise<Answer<T> | R> {
    try {
      return await this.#sendOrCreate<T>(operation, call, make)
    } catch (error) {
      const answer = expected(error)
      if (answer !== undefined) return answer
      throw this.#failureOf(operation, error, call)
    }
  }

  async #ifMet(operation: Operation, call: StoreCall, make: (sdk: typeof Sdk) => Command): Promise<WriteAnswer> {
    const refusalIn = (error: unknown): WriteAnswer | undefined => {
      if (!isNamed(error, 'ConditionalCheckFailedException')) return undefined
      const { Item: item, $response } = error as Error & { readonly Item?: Item; readonly $response?: unknown }
      return { isWritten: false, item, date: dateIn($response) }
    }
    const answer = await this.sendOr<unknown, WriteAnswer>(operation, call, make, refusalIn)
    return 'isWritten' in answer ? answer : { isWritten: true, date: answer.date }
  }

  async #sendOrCreate<T>(
    operation: Operation,
    call: StoreCall,
    make: (sdk: typeof Sdk) => Command,
  ): Promise<Answer<T>> {
    try {
      return await this.#send<T>(call, make)
    } catch (error) {
      if (!isWithoutTable(error) || this.#creator === undefined) throw error
      await this.#createTable(this.#creator, operation, call)
      return await this.#send<T>(call, make)
    }
  }

  async #send<T>(call: StoreCall, make: (sdk: typeof Sdk) => Command): Promise<Answer<T>> {
    // The application has loaded it already, with its client.
    const command = make(await import('@aws-sdk/client-dynamodb'))
    let response: unknown
    const watch =
      (next: Handler): Handler =>
      async (request) => {
        const answer = await next(request)
        response = answer.response
        return answer
      }
    // On this command alone: the client, which may be in other use, stays as it is.
    const stack = command.middlewareStack as Stack
    stack.add(watch, { step: 'deserialize', priority: 'low' })
    // The client does not look at the signal while it waits for credentials; older versions neither in their pauses.
    const send = (abortSignal: AbortSignal) => untilAborted(this.#client.send(command as never, { abortSignal }), call)
    const output = (await withOwnSignal(call, send)) as T
    return { output, date: dateIn(response) }
  }

  /** Creates the table, and waits until it can be used. Another process may be creating it. */
  async #createTable(clock: Clock, operation: Operation, call: StoreCall): Promise<void> {
    const { table } = this.name
    const creation = { ...operation, name: `creation of table '${table}'` }
    try {
      const input = { TableName: table, BillingMode: 'PAY_PER_REQUEST', ...keySchema(this.name) } as const
      await this.#send(call, ({ CreateTableCommand }) => new CreateTableCommand(input))
    } catch (error) {
      if (!isNamed(error, 'ResourceInUseException')) throw this.#failureOf(creation, error, call)
    }
    for (;;) {
      const { output } = await this.#send<Sdk.DescribeTableCommandOutput>(
        call,
        ({ DescribeTableCommand }) => new DescribeTableCommand({ TableName: table }),
      )
      if (output.Table?.TableStatus === 'ACTIVE') return
      await pause(clock, CREATION_LOOKS, call)
    }
  }

  #failureOf(operation: Operation, error: unknown, call: StoreCall): unknown {
    return call.aborted ? error : failureOf(operation.name, operation.leaseName, error, this.name)
  }
}

function dateIn(response: unknown): number {
  const { date = '' } = (response as { readonly headers?: Readonly<Record<string, string>> } | undefined)?.headers ?? {}
  return Date.parse(date)
}
