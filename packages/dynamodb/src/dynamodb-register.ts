import type { ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import { LeaseConfigurationError } from '@leasehold/core'
import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import { PROBE_NAME, RecentMap } from '@leasehold/core/store-kit'
import { entryIn, ITEM, type Item, leaseKey, toItem } from './lease-item.js'
import type { Condition, LeaseTable, Operation, WriteAnswer } from './lease-table.js'

/** The largest number of names whose last time and token are kept. */
const KNOWN_NAMES = 10_000

/**
 * One item for each lease. Each write is conditional on the version that was read, which is a new random one with every
 * write, so that it never comes back: a read that is out of date can delay a grant, but no write follows from it.
 */
export class DynamodbRegister implements CasRegister<string> {
  readonly kind = 'dynamodb'
  /** An operator can delete an item, and a restored table has older ones. */
  readonly forgets = true
  readonly clockError?: number
  readonly doubt?: NonNullable<CasRegister<string>['doubt']>
  readonly #table: LeaseTable
  /** The time of the last answer about a name. */
  readonly #dates = new RecentMap<number>(KNOWN_NAMES)
  /** The token of the last grant of a name that was made here. */
  readonly #tokens = new RecentMap<bigint>(KNOWN_NAMES)
  /** The items that came with a refusal: they spare the read that follows in the same call. */
  readonly #refusals = new WeakMap<StoreCall, { readonly name: string; readonly item: Item; readonly date: number }>()

  /** Without `clockError`, no time of the service is compared, and no mark is made. */
  constructor(table: LeaseTable, clockError: number | undefined) {
    this.#table = table
    if (clockError === undefined) return
    this.clockError = clockError
    this.doubt = (...mark) => this.#doubt(...mark)
  }

  async read(name: string, call: StoreCall): Promise<CasEntry<string> | undefined> {
    const refused = this.#refusals.get(call)
    this.#refusals.delete(call)
    if (refused?.name === name) return this.#entryIn(name, refused.item, refused.date)
    const { output, date } = await this.#table.get(this.#key(name), operation('read', name), call)
    return output === undefined ? undefined : this.#entryIn(name, output, date)
  }

  async create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<string> | undefined> {
    const condition = {
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': this.#table.name.partitionKey },
    }
    return await this.#write('create', name, record, condition, call)
  }

  async replace(
    name: string,
    record: CasRecord,
    version: string,
    call: StoreCall,
  ): Promise<CasWritten<string> | undefined> {
    return await this.#write('write', name, record, hasVersion(version), call)
  }

  /**
   * The time of the answer from which the version is known. Times are whole seconds: an item that is deleted, or replaced by
   * an older one, within the second of a grant is not noticed, unless the grant was made by this process.
   */
  async timeAfter(name: string, _version: string, _call: StoreCall): Promise<bigint> {
    const date = this.#dates.get(name)
    if (date === undefined || Number.isNaN(date)) {
      const message =
        'the answers of the service have no Date header: fencing tokens need the time of the service. Hand in a ' +
        'DynamoDBClient that reaches the service itself'
      throw new LeaseConfigurationError(message, { leaseName: name, store: this.kind })
    }
    const next = (this.#tokens.get(name) ?? -1n) + 1n
    return next > BigInt(date) ? next : BigInt(date)
  }

  async #doubt(name: string, version: string, since: number, call: StoreCall): Promise<void> {
    const condition = hasVersion(version)
    const names = { ...condition.ExpressionAttributeNames, '#doubtedSince': ITEM.doubtedSince }
    const values = { ...condition.ExpressionAttributeValues, ':since': { N: String(since) } }
    await this.#table.update(
      this.#key(name),
      // The first mark of a version is the oldest one.
      'SET #doubtedSince = if_not_exists(#doubtedSince, :since)',
      { ...condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values },
      operation('mark', name),
      call,
    )
  }

  /**
   * Eventually consistent, at half the price: a listing decides nothing. Its entries have no time of the service, because
   * they can be older than it.
   */
  async *list(prefix: string, call: StoreCall): AsyncGenerator<CasEntry<string> & { readonly name: string }> {
    const { partitionKey } = this.#table.name
    const names = { '#version': ITEM.version, ...(prefix === '' ? {} : { '#key': partitionKey }) }
    const input = {
      TableName: this.#table.name.table,
      FilterExpression: `attribute_exists(#version)${prefix === '' ? '' : ' AND begins_with(#key, :prefix)'}`,
      ExpressionAttributeNames: names,
      ...(prefix === '' ? {} : { ExpressionAttributeValues: { ':prefix': { S: prefix } } }),
    }
    let start: Item | undefined
    do {
      const page = { ...input, ExclusiveStartKey: start }
      const { output } = await this.#table.send<ScanCommandOutput>(
        { name: 'listing' },
        call,
        ({ ScanCommand }) => new ScanCommand(page),
      )
      for (const item of output.Items ?? []) {
        const name = item[partitionKey]?.S
        if (name !== undefined) yield { name, ...entryIn(item) }
      }
      start = output.LastEvaluatedKey
    } while (start !== undefined)
  }

  async #write(
    what: string,
    name: string,
    record: CasRecord,
    condition: Condition,
    call: StoreCall,
  ): Promise<CasWritten<string> | undefined> {
    const version = crypto.randomUUID()
    const item = toItem(this.#key(name), record, version)
    const answer = await this.#table.put(item, condition, operation(what, name), call)
    this.#dates.set(name, answer.date)
    if (!isDone(answer, version)) {
      const { item: found, date } = answer
      // The check of the table has to see that reads are fresh.
      if (found !== undefined && name !== PROBE_NAME) this.#refusals.set(call, { name, item: found, date })
      return undefined
    }
    if (record.owner !== '') this.#tokens.set(name, record.fencingToken)
    return { version }
  }

  #entryIn(name: string, item: Item, date: number): CasEntry<string> {
    this.#dates.set(name, date)
    return { ...entryIn(item), ...(Number.isNaN(date) ? {} : { readAt: date }) }
  }

  #key(name: string): Item {
    return leaseKey(this.#table.name.partitionKey, name)
  }
}

/** The client repeats a request whose answer was lost: the item is then already the one that was to be written. */
function isDone({ isWritten, item }: WriteAnswer, version: string): boolean {
  return isWritten || item?.[ITEM.version]?.S === version
}

function hasVersion(version: string) {
  return {
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': ITEM.version },
    ExpressionAttributeValues: { ':version': { S: version } },
  } satisfies Condition
}

function operation(what: string, leaseName: string): Operation {
  return { name: `${what} of lease '${leaseName}'`, leaseName }
}
