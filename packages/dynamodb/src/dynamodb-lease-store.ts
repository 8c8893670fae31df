import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Clock, type Grant, systemClock } from '@leasehold/core'
import { withinTime } from '@leasehold/core/internal'
import type { StoreCall, StoreFinding } from '@leasehold/core/store'
import { CasLeaseStore, checkOptionNames, clockErrorOf } from '@leasehold/core/store-kit'
import {
  checkClient,
  type DynamodbClient,
  type DynamodbLeaseStoreOptions,
  misconfigured,
  optionNames,
  tableIn,
} from './dynamodb-options.js'
import { DynamodbRegister } from './dynamodb-register.js'
import { type LeaseCondition, leaseCondition } from './lease-condition.js'
import { LeaseTable } from './lease-table.js'
import { tableFindings } from './table-findings.js'

/** How long the service may take to create the table, in milliseconds. */
const CREATION_TIME = 120_000

/** The room for metadata in a record, in bytes. */
const METADATA_ROOM = 4_096

/**
 * Leases in a table of DynamoDB, one item each. A challenger takes over after it has seen the item unchanged for its ttl. A
 * challenger that lives for less leaves a mark in the item, and a later one continues the observation: see *In Lambda* in
 * the guide. The client stays open when the store is closed.
 */
export class DynamodbLeaseStore extends CasLeaseStore<string> {
  readonly #table: LeaseTable
  readonly #isOneRegion: boolean
  /** The same table, which is created if it is missing. */
  readonly #creating: LeaseTable
  readonly #clock: Clock

  /** Throws a `LeaseConfigurationError` if the client or an option does not fit. Sends nothing. */
  constructor(client: DynamodbClient, options: DynamodbLeaseStoreOptions = {}) {
    checkClient(client)
    checkOptionNames('DynamodbLeaseStore', options, optionNames, { store: 'dynamodb' })
    const { clock = systemClock, create = false, probe = true, clockDifference = 1_000 } = options
    const { globalTable = 'refuse' } = options
    if (globalTable !== 'refuse' && globalTable !== 'one-region') {
      throw misconfigured(`globalTable must be 'refuse' or 'one-region', not '${String(globalTable)}'`)
    }
    const name = tableIn(options)
    const creating = new LeaseTable(client, name, clock)
    const table = create ? creating : new LeaseTable(client, name)
    super(new DynamodbRegister(table, clockErrorOf('dynamodb', clockDifference)), {
      clock,
      probe,
      metadata: METADATA_ROOM,
    })
    this.#table = table
    this.#creating = creating
    this.#clock = clock
    this.#isOneRegion = globalTable === 'one-region'
  }

  /**
   * Creates the table if it does not exist, also without the option `create`, and waits until it can be used. Rejects as an
   * operation of a lease does; after two minutes with a `LeaseTimeoutError`.
   */
  async migrate(): Promise<void> {
    const { table } = this.#creating.name
    const description = { name: 'description of the table' }
    await withinTime(
      { timeout: CREATION_TIME, clock: this.#clock },
      this,
      { operation: `creation of table '${table}'` },
      (call) =>
        this.#creating.send(
          description,
          call,
          ({ DescribeTableCommand }) => new DescribeTableCommand({ TableName: table }),
        ),
    )
  }

  /** What the service says about the table, and whether it keeps conditions. Writes the item `leasehold-probe`. */
  override async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    const findings = await tableFindings(this.#table, this.#isOneRegion, call)
    if (findings.some(({ result }) => result === 'failed')) return findings
    return [...findings, ...(await super.probe(call))]
  }

  /**
   * The first part of your own `TransactWriteItems`: the transaction is cancelled unless the lease is still under the grant
   * with this token. For the commands of `@aws-sdk/lib-dynamodb`, give `native: true`.
   */
  condition(lease: LeaseUnderToken): LeaseCondition<AttributeValue>
  condition(lease: LeaseUnderToken, options: { readonly native: true }): LeaseCondition<string | bigint>
  condition(
    lease: LeaseUnderToken,
    options: { readonly native?: boolean } = {},
  ): LeaseCondition<AttributeValue> | LeaseCondition<string | bigint> {
    checkOptionNames('condition', options, { native: true }, { store: this.kind })
    const { name } = this.#table
    if (options.native === true) {
      return leaseCondition<string | bigint>(
        name,
        lease,
        (text) => text,
        (token) => token,
      )
    }
    return leaseCondition<AttributeValue>(
      name,
      lease,
      (text) => ({ S: text }),
      (token) => ({ N: String(token) }),
    )
  }
}

/** The name of a lease, and the token of a grant. */
export type LeaseUnderToken = Pick<Grant, 'name' | 'fencingToken'>
