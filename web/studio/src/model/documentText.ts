// Markdown as a tree of plain values. Studio builds elements from it, so HTML in a text is only ever shown as text.
import { type Token, marked } from "marked";

export type Block =
  | { kind: "heading"; level: number; inline: Inline[] }
  | { kind: "paragraph"; inline: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "del"; inline: Inline[] }
  | { kind: "link"; href: string | null; inline: Inline[] }
  | { kind: "break" };

const MAX_DEPTH = 20;

export function parseMarkdown(text: string): Block[] {
  return toBlocks(marked.lexer(text), 0);
}

/** Only addresses of the web and of mail become links; `javascript:` and `data:` stay text. */
export function safeHref(href: string): string | null {
  return /^(https?:\/\/|mailto:)/i.test(href.trim()) ? href.trim() : null;
}

type AnyToken = Token & { tokens?: Token[]; text?: string; raw: string };

function toBlocks(tokens: Token[], depth: number): Block[] {
  if (depth > MAX_DEPTH) return [];
  return (tokens as AnyToken[]).flatMap((token): Block[] => {
    switch (token.type) {
      case "heading":
        return [{ kind: "heading", level: token.depth as number, inline: toInline(token.tokens ?? [], depth + 1) }];
      case "paragraph":
      case "text":
        return [{ kind: "paragraph", inline: token.tokens ? toInline(token.tokens, depth + 1) : plain(token.text ?? "") }];
      case "code":
        return [{ kind: "code", text: token.text ?? "" }];
      case "blockquote":
        return [{ kind: "quote", blocks: toBlocks(token.tokens ?? [], depth + 1) }];
      case "list": {
        const items = token.items as { tokens: Token[] }[];
        return [{ kind: "list", ordered: Boolean(token.ordered), items: items.map((item) => toBlocks(item.tokens, depth + 1)) }];
      }
      case "table": {
        const cells = (row: { tokens: Token[] }[]) => row.map((cell) => toInline(cell.tokens, depth + 1));
        return [{ kind: "table", head: cells(token.header), rows: (token.rows as { tokens: Token[] }[][]).map(cells) }];
      }
      case "hr":
        return [{ kind: "rule" }];
      case "space":
      case "def":
        return [];
      default:
        return [{ kind: "paragraph", inline: plain(token.raw) }];
    }
  });
}

function toInline(tokens: Token[], depth: number): Inline[] {
  if (depth > MAX_DEPTH) return [];
  return (tokens as AnyToken[]).flatMap((token): Inline[] => {
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return [{ kind: token.type, inline: toInline(token.tokens ?? [], depth + 1) }];
      case "link":
        return [{ kind: "link", href: safeHref(token.href as string), inline: toInline(token.tokens ?? [], depth + 1) }];
      case "codespan":
        return [{ kind: "code", text: token.text ?? "" }];
      case "br":
        return [{ kind: "break" }];
      case "text":
        return token.tokens ? toInline(token.tokens, depth + 1) : plain(unescapeEntities(token.text ?? ""));
      case "escape":
        return plain(token.text ?? "");
      default:
        return plain(token.raw);
    }
  });
}

function plain(text: string): Inline[] {
  return [{ kind: "text", text }];
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

function unescapeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
