import { parsedJSON } from '@leasehold/core/store-kit'

export interface ConsulAnswer {
  readonly status: number
  /** The body as received: JSON, or plain text for most errors. */
  readonly text: string
  /** The header `X-Consul-Index`: where the next blocking query starts; 0 without it. */
  readonly index: number
}

/** The parsed body; `undefined` if it is not JSON. */
export function bodyOf({ text }: ConsulAnswer): unknown {
  return parsedJSON(text)
}
