import { readFileSync, writeFileSync } from 'node:fs'
import type { ProviderClient } from './provider-client.js'
import type { Tokens } from './shared-tokens.js'

/** The mistake: every process reads the tokens from a place that all share, and refreshes them by itself. */
export function createOwnTokens(file: string, provider: ProviderClient) {
  return {
    accessToken: async (): Promise<string> => {
      const { expiresAt, ...tokens } = JSON.parse(readFileSync(file, 'utf8')) as Tokens & { readonly expiresAt: number }
      if (Date.now() < expiresAt) return tokens.accessToken
      const next = await provider.refresh(tokens.refreshToken)
      writeFileSync(file, JSON.stringify({ ...next, expiresAt: Date.now() + next.expiresIn * 500 }))
      return next.accessToken
    },
    stop: async () => {},
  }
}
