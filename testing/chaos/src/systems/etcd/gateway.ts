/** How long a member may take, in milliseconds. */
const PATIENCE = 1_000

export interface Range {
  readonly kvs?: readonly { readonly value?: string }[]
}

/** As the JSON of etcd has bytes. */
export function text64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** A call of the JSON gateway of etcd. */
export async function call<A>(url: string, method: string, request: object): Promise<A> {
  const answer = await fetch(`${url}/v3/${method}`, {
    method: 'POST',
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(PATIENCE),
  })
  if (!answer.ok) throw new Error(`${method}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as A
}
