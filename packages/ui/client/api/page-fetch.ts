/** A request of the page. */
export interface PageRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** Nothing comes from a cache: it would be old. */
  readonly cache: 'no-store'
}

export type PageFetch = (url: string, request: PageRequest) => Promise<Response>
