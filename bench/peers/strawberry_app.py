"""Strawberry, the SQLAlchemy ORM and dataloaders, as an ordinary developer writes it; started by `bench.graphql`."""

import os
from datetime import datetime

import strawberry
from sqlalchemy import DateTime, Float, Text, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, aliased, mapped_column
from starlette.applications import Starlette
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader
from strawberry.scalars import JSON

SCHEMA = os.environ["SCHEMA"]


class Base(DeclarativeBase):
    """Rows in the peers' schema."""


class NodeRow(Base):
    __tablename__ = "gnodes"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    properties: Mapped[dict] = mapped_column(JSONB)
    data: Mapped[dict] = mapped_column(JSONB)
    created: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    modified: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class EdgeRow(Base):
    __tablename__ = "gedges"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    from_id: Mapped[str] = mapped_column(Text)
    to_id: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    weight: Mapped[float] = mapped_column(Float)


URL = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://")
Session = async_sessionmaker(create_async_engine(URL, pool_size=10, max_overflow=0), expire_on_commit=False)


@strawberry.type
class Node:
    id: strawberry.ID
    type: str
    properties: JSON
    data: JSON
    modified: datetime

    @strawberry.field
    async def edges(self, info: strawberry.Info, first: int = 20) -> list["Edge"]:
        return await info.context["edges"].load((self.id, first))


@strawberry.type
class Edge:
    id: strawberry.ID
    type: str
    weight: float
    to_id: strawberry.Private[str]

    @strawberry.field
    async def target(self, info: strawberry.Info) -> Node:
        return await info.context["nodes"].load(self.to_id)


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class NodeEdge:
    cursor: str
    node: Node


@strawberry.type
class NodeConnection:
    edges: list[NodeEdge]
    page_info: PageInfo


def shown(row: NodeRow) -> Node:
    return Node(
        id=strawberry.ID(row.id), type=row.type, properties=row.properties, data=row.data, modified=row.modified
    )


async def load_nodes(ids: list[str]) -> list[Node | None]:
    async with Session() as session:
        rows = (await session.scalars(select(NodeRow).where(NodeRow.id.in_(ids)))).all()
    by_id = {row.id: shown(row) for row in rows}
    return [by_id.get(id) for id in ids]


async def load_edges(keys: list[tuple[str, int]]) -> list[list[Edge]]:
    most = max(first for _, first in keys)
    number = func.row_number().over(partition_by=EdgeRow.from_id, order_by=EdgeRow.id).label("number")
    numbered = select(EdgeRow, number).where(EdgeRow.from_id.in_([id for id, _ in keys])).subquery()
    found = aliased(EdgeRow, numbered)
    async with Session() as session:
        rows = (await session.scalars(select(found).where(numbered.c.number <= most).order_by(numbered.c.id))).all()
    groups: dict[str, list[Edge]] = {}
    for row in rows:
        edge = Edge(id=strawberry.ID(row.id), type=row.type, weight=row.weight, to_id=row.to_id)
        groups.setdefault(row.from_id, []).append(edge)
    return [groups.get(id, [])[:first] for id, first in keys]


@strawberry.type
class Query:
    @strawberry.field
    async def node(self, info: strawberry.Info, id: strawberry.ID) -> Node | None:
        return await info.context["nodes"].load(id)

    @strawberry.field
    async def nodes(self, type: str, first: int = 100, after: str | None = None) -> NodeConnection:
        query = select(NodeRow).where(NodeRow.type == type).order_by(NodeRow.id).limit(first + 1)
        if after:
            query = query.where(NodeRow.id > after)
        async with Session() as session:
            rows = (await session.scalars(query)).all()
        edges = [NodeEdge(cursor=row.id, node=shown(row)) for row in rows[:first]]
        info = PageInfo(has_next_page=len(rows) > first, end_cursor=edges[-1].cursor if edges else None)
        return NodeConnection(edges=edges, page_info=info)


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def add_node(self, id: strawberry.ID, type: str, properties: JSON, data: JSON) -> Node:
        async with Session() as session:
            row = NodeRow(id=id, type=type, properties=properties, data=data)
            session.add(row)
            await session.commit()
        return shown(row)


class Door(GraphQL):
    async def get_context(self, request, response):
        return {"request": request, "nodes": DataLoader(load_nodes), "edges": DataLoader(load_edges)}


app = Starlette()
app.add_route("/graphql", Door(strawberry.Schema(query=Query, mutation=Mutation)), methods=["POST"])
