import type { StoreCall } from '@leasehold/core/store'
import { importOptional, withOwnSignal } from '@leasehold/core/store-kit'
import {
  type BucketAnswer,
  type BucketClient,
  type KeyPage,
  LARGEST_OBJECT,
  type ObjectRequest,
} from './bucket-client.js'
import type { S3CredentialsSource } from './current-credentials.js'
import { failureOfSdk, foreignObject } from './failure-of.js'

/** The part of an `S3Client` of `@aws-sdk/client-s3` in use. */
export interface S3ClientLike {
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

/** The fields of the SDK's answers in use. */
interface SdkOutput {
  readonly Body?: { transformToString(): Promise<string>; destroy?(): void }
  readonly ContentLength?: number
  readonly Contents?: readonly { readonly Key?: string }[]
  readonly NextContinuationToken?: string
}

/** The fields of the SDK's errors in use. Checked by shape: an application can have another copy of the SDK. */
interface SdkFailure {
  readonly name: string
  readonly message: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Headers }
}

type Headers = Readonly<Record<string, string>>

/** A command of the SDK, as far as it is used. */
interface SdkCommand {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: unknown) => Promise<SdkResult>) => (args: unknown) => Promise<SdkResult>,
      options: { readonly step: 'deserialize'; readonly priority: 'high' },
    ): void
  }
}

interface SdkResult {
  readonly response: { readonly statusCode?: number; readonly headers?: Headers }
}

type Commands = typeof import('@aws-sdk/client-s3')

/** A bucket over the user's client of the SDK, with its credentials, retries, proxies and logs. */
export class SdkClient implements BucketClient {
  readonly bucket: string
  readonly #client: S3ClientLike

  constructor(bucket: string, client: S3ClientLike) {
    this.bucket = bucket
    this.#client = client
  }

  async send({ method, key, body, condition }: ObjectRequest, call: StoreCall): Promise<BucketAnswer> {
    const { GetObjectCommand, PutObjectCommand } = await commands()
    const object = { Bucket: this.bucket, Key: key }
    if (method === 'GET') return (await this.#ask(new GetObjectCommand(object), call)).answer
    const conditions = condition === 'absent' ? { IfNoneMatch: '*' } : condition && { IfMatch: condition.etag }
    const content = { Body: body ?? '', ContentType: 'application/json' }
    return (await this.#ask(new PutObjectCommand({ ...object, ...content, ...conditions }), call)).answer
  }

  async list(prefix: string, from: string | undefined, call: StoreCall): Promise<KeyPage> {
    const { ListObjectsV2Command } = await commands()
    const page = { Bucket: this.bucket, Prefix: prefix, ...(from === undefined ? {} : { ContinuationToken: from }) }
    const { answer, output } = await this.#ask(new ListObjectsV2Command(page), call)
    const { Contents = [], NextContinuationToken: next } = output ?? {}
    return { ...answer, keys: Contents.map(({ Key = '' }) => Key), next }
  }

  async create(call: StoreCall): Promise<BucketAnswer> {
    const { CreateBucketCommand } = await commands()
    return (await this.#ask(new CreateBucketCommand({ Bucket: this.bucket }), call)).answer
  }

  async #ask(command: unknown, call: StoreCall): Promise<{ answer: BucketAnswer; output?: SdkOutput }> {
    let last: SdkResult['response'] = {}
    // The outputs of the SDK lack the header `Date`. The middleware is that of this command only.
    const keep = (next: (args: unknown) => Promise<SdkResult>) => async (args: unknown) => {
      const result = await next(args)
      last = result.response
      return result
    }
    ;(command as SdkCommand).middlewareStack.add(keep, { step: 'deserialize', priority: 'high' })
    const header = (name: string): string | undefined => last.headers?.[name]
    return await withOwnSignal(call, async (abortSignal) => {
      try {
        const output = (await this.#client.send(command as never, { abortSignal })) as SdkOutput
        if ((output.ContentLength ?? 0) > LARGEST_OBJECT) {
          output.Body?.destroy?.()
          throw foreignObject()
        }
        const text = (await output.Body?.transformToString()) ?? ''
        return { answer: { status: last.statusCode ?? 200, header, text }, output }
      } catch (error) {
        const { name, message, $metadata, $response } = Object(error) as SdkFailure
        const status = $metadata?.httpStatusCode
        if (status === undefined) throw failureOfSdk(error)
        last = { headers: $response?.headers ?? {} }
        return { answer: { status, header, text: '', code: name, message } }
      }
    })
  }
}

export interface SdkClientOptions {
  readonly region?: string | undefined
  readonly endpoint?: string | undefined
  readonly pathStyle?: boolean | undefined
  readonly credentials?: S3CredentialsSource | undefined
}

/** A client of the SDK, with its chain of credentials. The engine repeats requests, so the client does not. */
export async function openSdkClient(options: SdkClientOptions): Promise<S3ClientLike> {
  const { S3Client } = await commands()
  const { region, endpoint, pathStyle, credentials } = options
  return new S3Client({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials: credentials as never }),
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    maxAttempts: 1,
  })
}

const sdk = {
  name: '@aws-sdk/client-s3',
  neededBy: 'a client of the SDK',
  advice: 'Without the option client or sdk, the store needs no package',
  store: 's3',
} as const

async function commands(): Promise<Commands> {
  return await importOptional(sdk, () => import('@aws-sdk/client-s3'))
}
