/** What the page asks `fetch` for. */
export interface PageRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** What is kept is never what is. */
  readonly cache: 'no-store'
}

export type PageFetch = (url: string, request: PageRequest) => Promise<Response>
