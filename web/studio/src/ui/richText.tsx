// Markdown as elements. Nothing is ever parsed as HTML.
import type { ComponentChildren } from "preact";
import { type Block, type Inline, parseMarkdown } from "../model/documentText.ts";

const HEADINGS = ["h3", "h3", "h4", "h5", "h6", "h6", "h6"] as const;

export function RichText({ text }: { text: string }) {
  return <div class="rich-text" dir="auto">{parseMarkdown(text).map(renderBlock)}</div>;
}

function renderBlock(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case "heading": {
      const Heading = HEADINGS[block.level] ?? "h6";
      return <Heading key={key}>{block.inline.map(renderInline)}</Heading>;
    }
    case "paragraph":
      return <p key={key}>{block.inline.map(renderInline)}</p>;
    case "code":
      return <pre key={key}>{block.text}</pre>;
    case "quote":
      return <blockquote key={key}>{block.blocks.map(renderBlock)}</blockquote>;
    case "list": {
      const List = block.ordered ? "ol" : "ul";
      return <List key={key}>{block.items.map((item, at) => <li key={at}>{item.map(renderBlock)}</li>)}</List>;
    }
    case "table":
      return (
        <table key={key}>
          <thead><tr>{block.head.map((cell, at) => <th key={at}>{cell.map(renderInline)}</th>)}</tr></thead>
          <tbody>{block.rows.map((row, at) => <tr key={at}>{row.map((cell, column) => <td key={column}>{cell.map(renderInline)}</td>)}</tr>)}</tbody>
        </table>
      );
    case "rule":
      return <hr key={key} />;
  }
}

function renderInline(part: Inline, key: number): ComponentChildren {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code key={key}>{part.text}</code>;
    case "break":
      return <br key={key} />;
    case "link":
      if (part.href === null) return <span key={key}>{part.inline.map(renderInline)}</span>;
      return <a key={key} href={part.href} target="_blank" rel="noopener noreferrer nofollow">{part.inline.map(renderInline)}</a>;
    default: {
      const Tag = part.kind;
      return <Tag key={key}>{part.inline.map(renderInline)}</Tag>;
    }
  }
}
